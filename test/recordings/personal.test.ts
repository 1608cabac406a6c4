import { expect, test } from 'vitest'
import { createScrub } from '../../src/recordings/personal.ts'

const scrubbed = (text: string, secrets: string[] = []) =>
  Buffer.from(createScrub((t) => t.replaceAll('planted', '***'), secrets)(new TextEncoder().encode(text))).toString()

test.each([
  ['end_user="anna@example.com"', 'end_user="1"'],
  ['user="anna"', 'user="1"'],
  ['user_email="a@b.org"', 'user_email="1"'],
  ['hashed_api_key="88dc28d0f030c55ed4ab77ed8faf098196cb1c05df778539800c9f1243fe6b4b"', 'hashed_api_key="1"'],
  ['api_key_alias="anna laptop"', 'api_key_alias="1"'],
  ['team="sales"', 'team="1"'],
  ['team_alias="sales, \\"north\\""', 'team_alias="1"'],
  ['org_id="o1"', 'org_id="1"'],
  ['organization="acme"', 'organization="1"'],
  ['client_ip="10.1.2.3"', 'client_ip="1"'],
  ['user_agent="curl/8"', 'user_agent="1"'],
  ['note="ask anna@example.com"', 'note="1"'],
  ['alias="sk-1234567890abcdef"', 'alias="1"'],
  ['"user"="anna"', '"user"="1"'],
])('%s names nobody afterwards', (label, expected) => {
  expect(scrubbed(`litellm_requests_total{model="m",${label}} 5\n`)).toBe(
    `litellm_requests_total{model="m",${expected}} 5\n`,
  )
})

test.each([
  'vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 3\n',
  'gen_ai_client_token_usage_count{gen_ai_token_type="input"} 3\n',
  'vllm:tokens_total{source="local_cache_hit",token_type="output"} 3\n',
  '# HELP x the user="anna" of a key\nx 1\n',
  'x{user=""} 1\n',
])('%s stays as it came', (text) => expect(scrubbed(text)).toBe(text))

test('the same person has the same number, another has another: series stay apart', () => {
  expect(scrubbed('x{user="anna"} 1\nx{user="bob"} 2\ny{user="anna"} 3\n')).toBe(
    'x{user="1"} 1\nx{user="2"} 2\ny{user="1"} 3\n',
  )
})

test('a secret that a page repeats is not kept', () => {
  expect(scrubbed('x{note="planted"} 1\n', ['planted'])).toBe('x{note="***"} 1\n')
})
