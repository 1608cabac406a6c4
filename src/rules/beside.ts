import { defined } from '../model/defined.ts'
import type { Cause } from '../model/explanation.ts'
import type { Readings } from '../model/signals.ts'
import type { EndpointState } from '../state/schema.ts'
import { type XidClass, xidClassOf } from '../verdict/xid-class.ts'
import { BY_HARDWARE, xidOf } from './gpu-gauges.ts'

type Beside = NonNullable<EndpointState['beside']>

const MINUTE = 60_000
/** GPU trouble that began so long before the symptom may be its cause; an older code has nothing to do with it. */
const BEFORE = 15 * MINUTE
const KEPT = 7 * 24 * 60 * MINUTE

/**
 * What the exporter beside a server shows of its GPUs, with the times of what changed. A code that was there at the first look
 * is of an unknown age.
 * @param gpu `undefined`: there is no exporter, or it did not answer; what is known stays.
 */
export function besideOf(before: Beside | undefined, gpu: Readings | undefined, now: number): Beside | undefined {
  if (!gpu) return before
  const seen = Object.entries(gpu.subjects).map(([id, gauges]) => {
    const known = before?.[id]
    const xid = xidOf(gauges, gpu) ?? known?.xid ?? 0
    const isNew = before !== undefined && xid !== 0 && xid !== (known?.xid ?? 0)
    const at = isNew ? now : xid === 0 ? undefined : known?.at
    return [id, { xid, ...defined({ name: gpu.subjectNames?.[id] ?? known?.name, at }) }] as const
  })
  const present = new Set(seen.map(([id]) => id))
  const lost = Object.entries(before ?? {}).flatMap(([id, known]) => {
    const gone = known.gone ?? now
    // An instance of a split GPU was reconfigured, not lost.
    return present.has(id) || id.includes('/') || now - gone >= KEPT ? [] : [[id, { ...known, gone }] as const]
  })
  const all = [...seen, ...lost]
  return all.length === 0 && before === undefined ? undefined : Object.fromEntries(all)
}

const WEIGHTS: Record<XidClass, number> = { application: 1, reset: 2, reboot: 3, replace: 3 }
/** A code of no known class. */
const UNKNOWN = 1.5
const GONE = 4

function weightOf(xid: number): number {
  const found = xidClassOf(xid)
  return found === undefined ? UNKNOWN : WEIGHTS[found]
}

interface Found {
  weight: number
  gpu: NonNullable<Cause['gpu']>
}

/**
 * The GPU trouble that lies below a symptom, the worst of all GPUs beside the server.
 * @param openedAt of the incident. @param isSlow only of a slow engine are clocks that are held down the cause.
 */
export function gpuCause(
  beside: Beside | undefined,
  gpu: Readings | undefined,
  { openedAt, isSlow }: { openedAt: number; isSlow: boolean },
): Cause['gpu'] {
  const isRecent = (at: number | undefined) => at !== undefined && at >= openedAt - BEFORE
  const found = Object.entries(beside ?? {}).flatMap(([id, { name = id, xid, at, gone }]): Found[] => {
    const code = isRecent(at) ? { xid } : {}
    if (isRecent(gone)) return [{ weight: GONE, gpu: { name, gone: true, ...code } }]
    if (isRecent(at)) return [{ weight: weightOf(xid), gpu: { name, xid } }]
    const throttle = (gpu?.subjects[id]?.gpu_throttle ?? 0) & BY_HARDWARE
    return isSlow && throttle !== 0 ? [{ weight: 0, gpu: { name, throttle } }] : []
  })
  return found.sort((a, b) => b.weight - a.weight)[0]?.gpu
}
