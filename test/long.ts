/**
 * What takes minutes. `npm test` leaves out every test with the tag `long` and takes the smaller amount of the rest;
 * `npm run test:long` and CI run everything. The end of a run says what was left out: `left-out.ts`.
 */
export const LONG = process.env.QUEUEBELL_LONG === '1'

/** Repetitions that a test still proves something with, and those that find what is rare. */
export const AMOUNTS = {
  sequences: { file: 'test/model/model.test.ts', of: 'random sequences of faults', short: 40, long: 1_000 },
  lives: { file: 'test/verdict/simulator.test.ts', of: 'lives of the simulated engine', short: 1, long: 20 },
  calmHours: {
    file: 'test/verdict/simulator.test.ts',
    of: 'hours of each life in which all is well',
    short: 2,
    long: 24,
  },
  noisyLives: { file: 'test/verdict/noise.test.ts', of: 'lives of the noisy engine', short: 1, long: 20 },
  seeds: { file: 'test/simulator/engine.test.ts', of: 'seeds of the simulated engine', short: 3, long: 20 },
  demos: { file: 'test/simulator/demo.test.ts', of: 'seeds of the demo', short: 1, long: 3 },
  rounds: { file: 'test/faults/two-processes.test.ts', of: 'rounds of two processes', short: 1, long: 100 },
  canaryHours: { file: 'test/canary/knows-more.test.ts', of: 'hours of canaries', short: 3, long: 24 },
  histograms: {
    file: 'test/signals/prometheus.test.ts',
    of: 'histograms that Prometheus judges',
    short: 200,
    long: 1_200,
  },
} as const satisfies Record<string, { file: string; of: string; short: number; long: number }>

export function amount(name: keyof typeof AMOUNTS): number {
  return AMOUNTS[name][LONG ? 'long' : 'short']
}
