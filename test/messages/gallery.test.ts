import { expect, test } from 'vitest'
import { CATALOGUES } from '../../src/messages/compose.ts'
import { FAILURE_KINDS } from '../../src/model/failure.ts'
import { RULE_IDS } from '../../src/rules/rules.ts'
import { gallery } from '../../tools/docs/gallery.ts'
import { samples } from '../../tools/docs/samples.ts'

test.each(['en', 'ru'] as const)(
  'every message reads as it was last read by a person (%s): npm run messages',
  async (language) => {
    await expect(gallery(language)).toMatchFileSnapshot(`__snapshots__/messages.${language}.txt`)
  },
)

test('the samples leave out no rule, no reason, no failure and no verdict', () => {
  const notifications = samples().flatMap((sample) => sample.notifications)
  expect(new Set(notifications.map(({ rule }) => rule))).toEqual(new Set([...RULE_IDS, 'silence', 'state-broken']))
  expect(new Set(notifications.map(({ reason }) => reason))).toEqual(
    new Set(['fired', 'worse', 'repeated', 'resolved', 'late', 'told-once']),
  )
  expect(new Set(notifications.flatMap(({ failure }) => failure?.kind ?? []))).toEqual(new Set(FAILURE_KINDS))
  expect(new Set(notifications.flatMap(({ context }) => context?.verdict?.kind ?? []))).toEqual(
    new Set(Object.keys(CATALOGUES.en.verdicts)),
  )
})

test('nothing English is left in a Russian message but names, settings and the words of others', () => {
  const ours = gallery('ru')
    .replace(/^---.*$/gm, '')
    .replace(/«[^»]*»|--[a-z-]+|\?\w+=/g, '')
  expect(ours.match(/\b(the|is|are|of|limit|requests|server|waiting|queue|and|at|worker|model)\b/g) ?? []).toEqual([])
})
