import { readFileSync } from 'node:fs'

const PAGE = 'docs/operating.md'
const ROWS = [
  'Lambda requests',
  'Lambda time on arm64',
  'Lambda time on x86_64',
  'S3 writes',
  'S3 reads',
  'Logs',
  'Alarms',
  'Metrics',
] as const

export interface Price {
  /** US dollars for one. */
  dollars: number
  /** How many AWS gives each month. */
  free: number
}

export type Prices = Readonly<Record<(typeof ROWS)[number], Price>>

/** The list prices in `docs/operating.md`, where they stand with their date. @throws when a row cannot be read. */
export function readPrices(page: string = readFileSync(new URL(`../../${PAGE}`, import.meta.url), 'utf8')): Prices {
  const [, table = ''] = /<!-- prices:start -->\n([\s\S]*?)<!-- prices:end -->/.exec(page) ?? []
  return Object.fromEntries(ROWS.map((row) => [row, priceOf(row, table)])) as Prices
}

function priceOf(row: string, table: string): Price {
  const cells = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const [, , dollars, amount, free] = cells.find(([, name]) => name === row) ?? []
  const price = { dollars: numberIn(dollars) / numberIn(amount), free: numberIn(free) }
  if (Number.isFinite(price.dollars) && Number.isFinite(price.free)) return price
  throw new Error(`${PAGE}: the table of prices has no row "${row}" with dollars, an amount and what is free`)
}

/** `1,000 requests` → 1000. */
function numberIn(cell = ''): number {
  return Number.parseFloat(cell.replaceAll(',', ''))
}
