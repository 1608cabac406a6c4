import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { monthlyCost } from '../../tools/deploy/cost.ts'
import { readPrices } from '../../tools/deploy/prices.ts'
import { DEPLOY_DEFAULTS, parseDeployment } from '../../tools/deploy/settings.ts'

const TEXT = readFileSync('docs/operating.md', 'utf8')

test('docs/operating.md names every variable of the deployment, with its default', () => {
  for (const [name, fallback] of Object.entries(DEPLOY_DEFAULTS)) {
    const row = TEXT.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${name}\``))
    expect([name, row]).toEqual([name, expect.stringContaining(fallback === undefined ? '|' : `\`${fallback}\``)])
  }
})

test('docs/operating.md names no variable of the deployment that there is not', () => {
  const named = [...TEXT.matchAll(/DEPLOY_[A-Z_]*[A-Z]/g)].map(([name]) => name)
  expect([...new Set(named)].filter((name) => !(name in DEPLOY_DEFAULTS))).toEqual([])
})

test('docs/operating.md has the costs that the code works out', () => {
  const parsed = parseDeployment({})
  if ('problems' in parsed) throw new Error(parsed.problems.join())
  const lines = monthlyCost(['vllm'], parsed.deployment, readPrices(TEXT))
  const rows = lines.map(({ what, count, unit, dollars }) => {
    const amount = count.toLocaleString('en', { maximumFractionDigits: count < 10 ? 2 : 0 })
    return `| ${what} | ${amount} ${unit} | ${dollars.toFixed(2)} |`
  })
  const together = lines.reduce((sum, { dollars }) => sum + dollars, 0)
  const table = [
    '| what | amount | dollars |',
    '| --- | --- | --- |',
    ...rows,
    `| together | | ${together.toFixed(2)} |`,
  ]
  const [, between] = /<!-- cost:start -->\n([\s\S]*?)<!-- cost:end -->/.exec(TEXT) ?? []
  expect(between).toBe(`${table.join('\n')}\n`)
})

test('every file that docs/operating.md links to is there', () => {
  for (const [, path = ''] of TEXT.matchAll(/\]\(\.\.\/([^)]+)\)/g))
    expect(() => readFileSync(path)).not.toThrow(/ENOENT/)
})
