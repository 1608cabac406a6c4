import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { doctor } from '../../src/cli/doctor.ts'
import { identify } from '../../src/cli/identify.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { createLog } from '../../src/log.ts'
import { NETWORK, run } from '../../src/run.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { type Loopback, serveOnLoopback } from '../../tools/simulator/loopback.ts'

/** What a proxy knows of people, in every label that may hold it, and as the owner may add to any series. */
const PERSONS =
  /ada|lovelace|babbage|sk-|88dc28d0|10\.9\.8\.7|finance-team|org-1|curl\/8|planted|upstream-pw|proprietary-header/i
const WHO =
  'end_user="ada",user="ada-1",user_email="ada@lovelace.example",user_alias="ada",hashed_api_key="88dc28d0f030c55ed4ab77ed8faf098196cb1c05df778539800c9f1243fe6b4b",api_key_alias="babbage-key",team="finance-team",team_alias="finance-team",org_id="org-1",client_ip="10.9.8.7",user_agent="curl/8",metadata_header="proprietary-header",exception_message="user ada is over her budget"'
const TIMES = 'litellm_request_total_latency_metric'
const FIRST = 'litellm_llm_api_time_to_first_token_metric'

/** A busy proxy with a slow model, failures, an upstream that is out, and lines that cannot be read. */
function proxyPage(minute: number): string {
  const count = 100 * minute
  const histogram = (name: string) =>
    [...['1', '10'].map((le, i) => `${name}_bucket{requested_model="m",${WHO},le="${le}"} ${i * count}`)]
      .concat(`${name}_bucket{requested_model="m",${WHO},le="+Inf"} ${count}`)
      .concat(
        `${name}_sum{requested_model="m",${WHO}} ${count * 6}`,
        `${name}_count{requested_model="m",${WHO}} ${count}`,
      )
  return [
    `litellm_in_flight_requests{${WHO}} 30`,
    `litellm_proxy_total_requests_metric_total{requested_model="m",status_code="200",${WHO}} ${count}`,
    `litellm_proxy_failed_requests_metric_total{requested_model="m",exception_status="500",exception_class="Openai.InternalServerError",${WHO}} ${count / 2}`,
    `litellm_deployment_state{model_id="m1",api_base="https://ada:upstream-pw@llm.example/v1?api-key=planted",${WHO}} ${minute > 2 ? 2 : 0}`,
    `litellm_deployment_state{${WHO}} ${minute > 2 ? 2 : 0}`,
    `litellm_remaining_api_key_budget_metric{${WHO}} 0`,
    ...histogram(TIMES),
    ...histogram(FIRST),
    `litellm_input_tokens_metric_total{${WHO}} no number`,
    `litellm_spend_metric_total{${WHO}`,
  ].join('\n')
}

const REFUSED = JSON.stringify({
  error: {
    message:
      'Authentication Error, Invalid proxy server token passed. Received API Key = sk-...1234, Key Hash (Token) =88dc28d0f030c55ed4ab77ed8faf098196cb1c05df778539800c9f1243fe6b4b. User ada@lovelace.example.',
    type: 'token_not_found_in_db',
    code: '401',
  },
})

let server: Loopback
let minute = 0
let refuses = false
const said: string[] = []

beforeEach(async () => {
  ;[minute, refuses] = [1, false]
  server = await serveOnLoopback((_, response) => {
    if (refuses) response.writeHead(401, { 'content-type': 'application/json' }).end(REFUSED)
    else response.writeHead(200, { 'content-type': 'text/plain' }).end(`${proxyPage(minute)}\n`)
  })
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text) => Boolean(said.push(String(text))))
  for (const name of ['log', 'warn', 'error'] as const)
    vi.spyOn(console, name).mockImplementation((...words) => void said.push(words.join(' ')))
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  said.length = 0
  await server.close()
})

test('what LiteLLM says of people, keys and teams is in no push, log, state and result', async () => {
  const env = {
    LITELLM_ENDPOINTS: `front=${server.url}/metrics/`,
    LOG_LEVEL: 'debug',
    INFLIGHT_LIMIT: '10',
    DOWN_LIMIT: '2',
  }
  const parsed = parseConfig('litellm', env, { lambda: false })
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'))
  const lines: string[] = []
  let now = Date.UTC(2026, 10, 30, 12)
  const store = createMemoryStore(() => now)
  const left: string[] = []
  const rules = new Set<string>()
  for (; minute < 14; minute++) {
    now += 60_000
    refuses = minute > 9
    const log = createLog(
      'debug',
      parsed.config.secrets,
      (line) => lines.push(line),
      () => now,
    )
    const io = {
      now: () => now,
      sleep: async () => {},
      store,
      log,
      runId: () => `run-${minute}`,
      print: (text: string) => left.push(text),
    }
    const push = async (message: unknown) => {
      left.push(JSON.stringify(message))
      return { kind: 'delivered', misconfigured: false, status: 200 } as const
    }
    const network = { ...NETWORK, push }
    const report = await run({ config: parsed.config, io, deadline: now + 30_000, network })
    left.push(JSON.stringify([report.result, report.messages, report.problems, report.decisions]))
    for (const { alerts } of report.result.endpoints)
      for (const [rule, phase] of Object.entries(alerts)) if (phase === 'firing') rules.add(rule.split(/[/:]/)[0] ?? '')
    left.push((await store.load('litellm.json'))?.text ?? '')
  }
  expect([...rules].sort()).toEqual(expect.arrayContaining(['down', 'errors', 'inflight', 'ttft', 'upstream']))
  expect(left.at(-1)).toContain('llm.example') // the state, with the upstream that is out
  expect(PERSONS.test(proxyPage(1)) && PERSONS.test(REFUSED)).toBe(true)
  for (const text of [...left, ...lines]) expect(PERSONS.exec(text)?.[0], text.slice(0, 400)).toBeUndefined()
})

test.each([false, true])('and in nothing that doctor prints, of a proxy that refuses us: %s', async (refusing) => {
  refuses = refusing
  vi.stubEnv('LITELLM_ENDPOINTS', `front=${server.url}/metrics/`)
  await doctor('litellm', { push: false })
  const found = await identify(server.url)
  const text = [...said, JSON.stringify(found)].join('\n')
  expect(text).toContain(refusing ? '401' : 'LiteLLM')
  expect(PERSONS.exec(text)?.[0], text).toBeUndefined()
})
