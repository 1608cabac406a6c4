/** Deterministic random numbers: the same seed gives the same run, on every machine. */
export interface Random {
  /** 0 <= x < 1. */
  uniform(): number
  /** Exponential with this mean: the time between arrivals that know nothing of each other. */
  exponential(mean: number): number
  /** Log-normal with this mean; `spread` is the standard deviation of the logarithm. Lengths of prompts look like this. */
  logNormal(mean: number, spread: number): number
}

/** The generator is mulberry32: 32 bits of state, good enough for a queue. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function uniform(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    uniform,
    exponential: (mean) => -Math.log(1 - uniform()) * mean,
    logNormal(mean, spread) {
      // Box-Muller; the half of the variance is taken off so that the mean is the one asked for.
      const normal = Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
      return mean * Math.exp(spread * normal - (spread * spread) / 2)
    },
  }
}
