import type { Catalogue } from '../texts.ts'
import { capital, n } from './phrases.ts'
import { measured, plain } from './rule-shapes.ts'
import { xidClass, xidTodo } from './xids.ts'

export const hardwareRulesEn = {
  gpu_memory: {
    ...measured('GPU memory is nearly full', 'GPU memory has room again', 'GPU memory', n.percent),
    todo: () =>
      'A server that reserves memory at start stays here for good: then set GPU_MEMORY_LIMIT=off. Otherwise look for other processes (nvidia-smi).',
  },
  gpu_temperature: {
    ...measured('GPU is hot', 'GPU has cooled down', 'GPU at', (value) => `${n.count(value)} °C`),
    todo: () => 'Look at fans, air flow and the neighbours; at its limit the GPU slows itself down.',
  },
  gpu_xid: {
    headline: ({ value }) => (value === undefined ? 'GPU reports an error' : `GPU error XID ${value}`),
    now: ({ value }) =>
      value === undefined ? 'The driver reports an error.' : `The driver reports XID ${value}${xidClass(value)}.`,
    over: 'GPU no longer reports an error',
    todo: ({ value }) => (value ? capital(xidTodo(value)) : undefined),
  },
  gpu_lost: plain(
    'GPU has disappeared',
    'The exporter no longer lists a GPU that was here before.',
    'GPU is back',
    'Look in dmesg for Xid 79 (fallen off the bus). Drain the node; a reboot or a power cycle brings it back, or shows that it is gone.',
  ),
  gpu_remap: {
    headline: ({ value }) => (value === undefined ? 'GPU memory row cannot be replaced' : 'GPU memory has lost rows'),
    now: ({ value }) =>
      value === undefined
        ? 'Replacing a bad memory row by a spare one failed.'
        : `${n.count(value)} more memory ${n.plural(value, { one: 'row', other: 'rows' })} had errors that could not be corrected.`,
    over: 'No further rows of GPU memory were lost',
    todo: ({ value }) =>
      value === undefined
        ? 'Take the GPU out of use and replace the card.'
        : 'Drain the GPU and reset it, so that spare rows take over. If it comes again, replace the card.',
  },
  gpu_throttle: {
    headline: () => 'GPU is slowed down by its hardware',
    now: ({ value }) => `The clocks are held down: ${throttledBy(value)}.`,
    over: 'GPU runs at its own clocks again',
    todo: () =>
      'Look at cooling, power supply and cables (nvidia-smi -q -d PERFORMANCE); the server is slower until then.',
  },
} satisfies Partial<Catalogue['rules']>

/** Bits of the clocks' event reasons: NVIDIA Management Library, `nvmlClocksEventReasons`. */
const REASONS: readonly (readonly [bit: number, words: string])[] = [
  [0x40, 'too hot (hardware)'],
  [0x20, 'too hot (driver)'],
  [0x80, 'power brake from outside'],
  [0x08, 'hardware slowdown'],
]

export function throttledBy(mask = 0): string {
  const found = REASONS.filter(([bit]) => (mask & bit) !== 0).map(([, words]) => words)
  return found.length === 0 ? 'a reason of the hardware' : found.join(', ')
}
