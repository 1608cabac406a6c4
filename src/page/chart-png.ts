import { draw } from './chart.ts'
import { GLYPH, glyphOf } from './font.ts'
import { type Raster, toPng } from './png.ts'
import type { Chart } from './view.ts'

/** Words on the picture: letters, digits and a few signs; no language. */
export interface PictureTexts {
  /** Left, above: `chat/a`. */
  title: string
  /** Right, above: `42 waiting`. */
  value: string
  /** Beside the limit's line: `> 20`. */
  limit?: string
  /** At the ends of the axis of time: `14:05`. */
  from: string
  to: string
}

/** Twice as wide as high, as a phone shows the picture of a notification. Pixels. */
const WIDTH = 800
const HEIGHT = 400
const BOX = { left: 24, top: 84, width: 752, height: 262 }
const LINE = 5

/** A colour's place in the palette. Blends of the line with its ground make its edge smooth. */
const COLOUR = {
  ground: 0,
  grid: 1,
  text: 2,
  soft: 3,
  area: 4,
  limit: 5,
  line: 6,
  overGround: 7,
  overArea: 10,
} as const
const STEPS = 3
const GROUND = '#ffffff'
const AREA = '#dbe8f5'
const INK = '#1f5f9f'
const PALETTE = [
  GROUND,
  '#e4e7eb',
  '#16191d',
  '#57606a',
  AREA,
  '#c0271d',
  INK,
  ...blends(GROUND, INK),
  ...blends(AREA, INK),
]

/** The chart as a picture of a few kilobytes, for pushes. */
export function chartPng(chart: Chart, texts: PictureTexts): Buffer {
  const raster: Raster = { width: WIDTH, height: HEIGHT, pixels: new Uint8Array(WIDTH * HEIGHT), palette: PALETTE }
  const { lines, limit } = draw(chart, BOX.width, BOX.height)
  const inBox = lines.map((line) => line.map(([x, y]) => [x + BOX.left, y + BOX.top] as const))
  for (const quarter of [0, 1, 2, 3, 4]) fillRow(raster, BOX.top + Math.round((BOX.height * quarter) / 4), COLOUR.grid)
  for (const line of inBox) fillBelow(raster, line)
  if (limit !== undefined) drawLimit(raster, Math.round(BOX.top + limit))
  for (const line of inBox) drawLine(raster, line)
  const room = Math.floor((BOX.width - widthOf(texts.value, 4) - 24) / (6 * 4))
  write(raster, cut(texts.title, room), { x: BOX.left, y: 26, scale: 4, colour: COLOUR.text })
  write(raster, texts.value, {
    x: BOX.left + BOX.width - widthOf(texts.value, 4),
    y: 26,
    scale: 4,
    colour: COLOUR.line,
  })
  if (limit !== undefined && texts.limit !== undefined) labelLimit(raster, BOX.top + limit, texts.limit)
  write(raster, texts.from, { x: BOX.left, y: 362, scale: 3, colour: COLOUR.soft })
  write(raster, texts.to, {
    x: BOX.left + BOX.width - widthOf(texts.to, 3),
    y: 362,
    scale: 3,
    colour: COLOUR.soft,
  })
  return toPng(raster)
}

type Point = readonly [x: number, y: number]

function fillRow({ pixels }: Raster, y: number, colour: number): void {
  pixels.fill(colour, y * WIDTH + BOX.left, y * WIDTH + BOX.left + BOX.width)
}

function fillBelow({ pixels }: Raster, line: readonly Point[]): void {
  for (const [[x0, y0], [x1, y1]] of pairsOf(line)) {
    for (let x = Math.round(x0); x < x1; x++) {
      const y = y0 + ((y1 - y0) * (x - x0)) / Math.max(1, x1 - x0)
      for (let row = Math.round(y); row < BOX.top + BOX.height; row++) pixels[row * WIDTH + x] = COLOUR.area
    }
  }
}

function drawLimit({ pixels }: Raster, y: number): void {
  for (let x = BOX.left; x < BOX.left + BOX.width; x++) {
    if (x % 16 < 10) for (const row of [y - 1, y, y + 1]) pixels[row * WIDTH + x] = COLOUR.limit
  }
}

/** Below the line where there is no room above it. */
function labelLimit(raster: Raster, y: number, text: string): void {
  const above = y - 3 * GLYPH.rows - 8
  write(raster, text, {
    x: BOX.left + 4,
    y: Math.round(above < BOX.top ? y + 8 : above),
    scale: 3,
    colour: COLOUR.limit,
  })
}

/** A line of even thickness: how much of a pixel it covers goes by the pixel's distance from it. */
function drawLine(raster: Raster, line: readonly Point[]): void {
  const [first] = line
  if (line.length === 1 && first) drawSegment(raster, first, first)
  for (const [from, to] of pairsOf(line)) drawSegment(raster, from, to)
}

function drawSegment({ pixels }: Raster, [x0, y0]: Point, [x1, y1]: Point): void {
  const length = (x1 - x0) ** 2 + (y1 - y0) ** 2
  const [left, right] = [Math.floor(Math.min(x0, x1)) - LINE, Math.ceil(Math.max(x0, x1)) + LINE]
  const [upper, lower] = [Math.floor(Math.min(y0, y1)) - LINE, Math.ceil(Math.max(y0, y1)) + LINE]
  for (let y = Math.max(0, upper); y <= Math.min(HEIGHT - 1, lower); y++) {
    for (let x = Math.max(0, left); x <= Math.min(WIDTH - 1, right); x++) {
      const along = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length))
      const distance = Math.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0))
      const covered = Math.min(1, Math.max(0, LINE / 2 + 0.5 - distance))
      if (covered > 0) pixels[y * WIDTH + x] = covering(pixels[y * WIDTH + x] ?? 0, covered)
    }
  }
}

/** The line's colour over what was there: never less of it than before. */
function covering(before: number, covered: number): number {
  const step = Math.round(covered * (STEPS + 1))
  if (step === 0 || before === COLOUR.line) return before
  if (step > STEPS) return COLOUR.line
  const [ground, had] =
    before >= COLOUR.overArea
      ? [COLOUR.overArea, before - COLOUR.overArea + 1]
      : before >= COLOUR.overGround
        ? [COLOUR.overGround, before - COLOUR.overGround + 1]
        : [before === COLOUR.area ? COLOUR.overArea : COLOUR.overGround, 0]
  return ground + Math.max(had, step) - 1
}

function write(
  { pixels }: Raster,
  text: string,
  { x, y, scale, colour }: { x: number; y: number; scale: number; colour: number },
): void {
  for (const [index, character] of [...text].entries()) {
    for (const [column, bits] of glyphOf(character).entries()) {
      for (let row = 0; row < GLYPH.rows; row++) {
        if (((bits >> row) & 1) === 0) continue
        const left = x + (index * (GLYPH.columns + 1) + column) * scale
        // A little larger than their grid, so that dots at a corner hold together.
        for (let dy = 0; dy <= scale; dy++) {
          const start = (y + row * scale + dy) * WIDTH + left
          pixels.fill(colour, start, start + scale + 1)
        }
      }
    }
  }
}

function widthOf(text: string, scale: number): number {
  return ([...text].length * (GLYPH.columns + 1) - 1) * scale
}

function cut(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, Math.max(0, room - 1))}…`
}

function pairsOf(line: readonly Point[]): [Point, Point][] {
  return line.slice(1).map((point, index) => [line[index] ?? point, point])
}

/** Colours between two, in even steps. */
function blends(from: string, to: string): string[] {
  return Array.from({ length: STEPS }, (_, i) => {
    const part = (i + 1) / (STEPS + 1)
    const mixed = [1, 3, 5].map((at) => {
      const [a, b] = [from, to].map((colour) => Number.parseInt(colour.slice(at, at + 2), 16))
      return Math.round((a ?? 0) + ((b ?? 0) - (a ?? 0)) * part)
        .toString(16)
        .padStart(2, '0')
    })
    return `#${mixed.join('')}`
  })
}
