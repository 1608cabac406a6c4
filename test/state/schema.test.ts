import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { STATE, STATE_VERSION } from '../../src/state/schema.ts'

const page = readFileSync('docs/state.md', 'utf8')

interface Schema {
  type?: unknown
  properties?: Record<string, Schema>
  items?: Schema
  prefixItems?: Schema[]
  additionalProperties?: unknown
}

/** `endpoints.*.seen[]`: every leaf of the schema as docs/state.md writes it. A tuple is one value. */
function fieldsOf(schema: Schema, path = ''): string[] {
  const { properties, items, additionalProperties: entries } = schema
  if (properties)
    return Object.entries(properties).flatMap(([name, field]) =>
      fieldsOf(field, path === '' ? name : `${path}.${name}`),
    )
  if (schema.type === 'array' && !schema.prefixItems) return fieldsOf(items ?? {}, `${path}[]`)
  if (schema.type === 'object' && typeof entries === 'object') return fieldsOf(entries as Schema, `${path}.*`)
  return [path]
}

test('docs/state.md names every field of the state, and none that is not there', () => {
  const documented = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, field]) => field)
  const schema = z.toJSONSchema(STATE, { unrepresentable: 'any' }) as Schema
  // A list that is checked as a whole does not say in the schema that it is one. What is held has the fields of the outbox.
  const bare = (fields: (string | undefined)[]) =>
    [...new Set(fields.map((field) => field?.replace(/(\[\])+$/, '').replace(/^held\[\].*/, 'held')))].sort()
  expect(bare(documented)).toEqual(bare(fieldsOf(schema)))
})

test('docs/state.md names the version', () => {
  expect(page).toContain(`\`v\` is ${STATE_VERSION}.`)
})
