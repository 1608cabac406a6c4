import type { Backend } from '../model/backend.ts'
import type { Readings } from '../model/signals.ts'

/** The UUIDs of a page's GPUs; a MIG instance that is gone was reconfigured, not lost. */
export function gpuNames(readings: Readings, backend: Backend): string[] {
  if (backend !== 'dcgm') return []
  return [...new Set(Object.keys(readings.subjects).map((subject) => subject.split('/')[0] ?? subject))]
}

/** The XID of one GPU: 0 where none is published, `undefined` where the published one is impossible. */
export function xidOf(gpu: Readings['subjects'][string], { faults }: Readings): number | undefined {
  return gpu.gpu_xid ?? (faults.some(({ signal }) => signal === 'gpu_xid') ? undefined : 0)
}

/** Hardware slowdown, heat by driver or hardware, power brake: NVIDIA Management Library, `nvmlClocksEventReasons`. */
export const BY_HARDWARE = 0x08 | 0x20 | 0x40 | 0x80
