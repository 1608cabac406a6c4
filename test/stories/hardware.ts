import { page } from './pages.ts'
import { from, type Story } from './story.ts'

interface Gpu {
  used?: number
  free?: number
  temperature?: number
  xid?: number
  remapFailed?: number
  rows?: number
  clocks?: number
  pod?: string
}

function gpus(all: Record<string, Gpu>): string {
  return page(
    Object.assign(
      {},
      ...Object.entries(all).map(([uuid, gpu], index) => {
        const labels = `{gpu="${index}",UUID="${uuid}"${gpu.pod === undefined ? '' : `,pod="${gpu.pod}"`}}`
        return {
          [`DCGM_FI_DEV_GPU_UTIL${labels}`]: 50,
          [`DCGM_FI_DEV_FB_USED${labels}`]: gpu.used ?? 1000,
          [`DCGM_FI_DEV_FB_FREE${labels}`]: gpu.free ?? 79_000,
          [`DCGM_FI_DEV_GPU_TEMP${labels}`]: gpu.temperature ?? 60,
          [`DCGM_FI_DEV_XID_ERRORS${labels}`]: gpu.xid,
          [`DCGM_FI_DEV_ROW_REMAP_FAILURE${labels}`]: gpu.remapFailed,
          [`DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS${labels}`]: gpu.rows,
          [`DCGM_FI_DEV_CLOCKS_EVENT_REASONS${labels}`]: gpu.clocks,
        }
      }),
    ),
  )
}

interface Gateway {
  degraded?: number
  healthB?: number
  rejected?: number
  stale?: number
  queueFull?: number
  parked?: number
  kv?: number
  running?: number
  ok?: number
  bad?: number
}

function gateway(g: Gateway = {}): string {
  return page({
    observer_degraded: g.degraded ?? 0,
    'upstream_health{upstream="a"}': 1,
    'upstream_health{upstream="b"}': g.healthB ?? 1,
    'admission_rejected_total{reason="kv_pressure"}': g.rejected,
    engine_state_stale_total: g.stale ?? 0,
    queue_full_requests_total: g.queueFull ?? 0,
    admission_parked_total: g.parked ?? 0,
    vllm_requests_running: g.running ?? 3,
    vllm_kv_usage_perc: g.kv ?? 0.3,
    'request_total{route="/v1",upstream="a",status="200"}': g.ok ?? 0,
    'request_total{route="/v1",upstream="a",status="503"}': g.bad,
  })
}

/** GPUs and the gateway. */
export const HARDWARE_STORIES: readonly Story[] = [
  {
    name: 'gpu_memory: 95.1 % fires once; the pod labels come and go (case 71) and remind of nothing',
    backend: 'dcgm',
    runs: [
      { minute: 0, served: gpus({ 'GPU-1': { used: 76_080, free: 3_920, pod: 'a' } }) },
      { minute: 1, served: gpus({ 'GPU-1': { used: 76_080, free: 3_920 } }) },
      { minute: 2, served: gpus({ 'GPU-1': { used: 76_080, free: 3_920, pod: 'b' } }) },
      { minute: 600, served: gpus({ 'GPU-1': { used: 76_080, free: 3_920 } }) },
      { minute: 601, served: gpus({ 'GPU-1': {} }) },
      { minute: 602, served: gpus({ 'GPU-1': {} }) },
    ],
    pushes: [
      [0, 'fired', 'gpu_memory'],
      [602, 'resolved', 'gpu_memory'],
    ],
  },
  {
    name: 'case 68: 76000 used and 4000 free is 95.0 %, not above 95 %',
    backend: 'dcgm',
    runs: from(0, 3, () => gpus({ 'GPU-1': { used: 76_000, free: 4_000 } })),
    pushes: [],
  },
  {
    name: 'case 72: memory that is copied all the time is not memory in use',
    backend: 'dcgm',
    runs: from(
      0,
      3,
      () => `${gpus({ 'GPU-1': { used: 1, free: 79_999 } })}DCGM_FI_DEV_MEM_COPY_UTIL{gpu="0",UUID="GPU-1"} 100\n`,
    ),
    pushes: [],
  },
  {
    name: 'gpu_temperature: 86 °C for five minutes fires, for four not',
    backend: 'dcgm',
    runs: [
      ...from(0, 4, () => gpus({ 'GPU-1': { temperature: 86 } })),
      { minute: 5, served: gpus({ 'GPU-1': { temperature: 79 } }) },
      ...from(6, 11, () => gpus({ 'GPU-1': { temperature: 86 } })),
      ...from(12, 13, () => gpus({ 'GPU-1': { temperature: 80 } })),
    ],
    pushes: [
      [11, 'fired', 'gpu_temperature'],
      [13, 'resolved', 'gpu_temperature'],
    ],
  },
  {
    name: 'gpu_xid: the change to a code fires once, another code is another incident, 0 is the end',
    backend: 'dcgm',
    runs: [
      ...from(0, 1, () => gpus({ 'GPU-1': { xid: 0 }, 'GPU-2': {} })),
      ...from(2, 4, () => gpus({ 'GPU-1': { xid: 79 }, 'GPU-2': {} })),
      ...from(5, 6, () => gpus({ 'GPU-1': { xid: 48 }, 'GPU-2': {} })),
      ...from(7, 8, () => gpus({ 'GPU-1': { xid: 0 }, 'GPU-2': {} })),
    ],
    pushes: [
      [2, 'fired', 'gpu_xid'],
      [5, 'fired', 'gpu_xid'],
      [8, 'resolved', 'gpu_xid'],
    ],
  },
  {
    name: 'gpu_xid: a code that was there at the first look is old, its absence is none',
    backend: 'dcgm',
    runs: [...from(0, 2, () => gpus({ 'GPU-1': { xid: 31 } })), ...from(3, 4, () => gpus({ 'GPU-1': {} }))],
    pushes: [],
  },
  {
    name: 'case 234: a code that stays is told once, without reminders; another one is told at once',
    backend: 'dcgm',
    runs: [
      { minute: 0, served: gpus({ 'GPU-1': { xid: 0 } }) },
      ...Array.from({ length: 289 }, (_, i) => ({ minute: 5 + 5 * i, served: gpus({ 'GPU-1': { xid: 31 } }) })),
      { minute: 1460, served: gpus({ 'GPU-1': { xid: 79 } }) },
    ],
    pushes: [
      [5, 'fired', 'gpu_xid'],
      [1460, 'fired', 'gpu_xid'],
    ],
  },
  {
    name: 'case 233: the first code, on a page that had no series of it before',
    backend: 'dcgm',
    runs: [...from(0, 5, () => gpus({ 'GPU-1': {} })), { minute: 6, served: gpus({ 'GPU-1': { xid: 79 } }) }],
    pushes: [[6, 'fired', 'gpu_xid']],
  },
  {
    name: 'gpu_remap: a failed replacement is told at once, also at our first look',
    backend: 'dcgm',
    runs: [
      ...from(0, 2, () => gpus({ 'GPU-1': { remapFailed: 1, rows: 3 } })),
      ...from(3, 4, () => gpus({ 'GPU-1': { remapFailed: 0, rows: 3 } })),
    ],
    pushes: [
      [0, 'fired', 'gpu_remap'],
      [4, 'resolved', 'gpu_remap'],
    ],
  },
  {
    name: 'gpu_remap: more rows are told once, and over after an hour without more; rows of old are none',
    backend: 'dcgm',
    runs: [
      ...from(0, 2, () => gpus({ 'GPU-1': { remapFailed: 0, rows: 3 } })),
      ...from(3, 70, (m) => gpus({ 'GPU-1': { remapFailed: 0, rows: m < 8 ? 4 : 5 } })),
    ],
    pushes: [
      [3, 'fired', 'gpu_remap'],
      [69, 'resolved', 'gpu_remap'],
    ],
  },
  {
    name: 'gpu_throttle: clocks held down by heat for ten minutes; idleness and a power cap are none',
    backend: 'dcgm',
    runs: [
      ...from(0, 15, () => gpus({ 'GPU-1': { clocks: 0x1 }, 'GPU-2': { clocks: 0x4 } })),
      ...from(16, 24, () => gpus({ 'GPU-1': { clocks: 0x40 }, 'GPU-2': { clocks: 0x4 } })),
      ...from(25, 35, () => gpus({ 'GPU-1': { clocks: 0x1 }, 'GPU-2': { clocks: 0x84 } })),
      ...from(36, 37, () => gpus({ 'GPU-1': { clocks: 0x1 }, 'GPU-2': { clocks: 0x4 } })),
    ],
    pushes: [
      [35, 'fired', 'gpu_throttle'],
      [37, 'resolved', 'gpu_throttle'],
    ],
  },
  {
    name: 'gpu_lost: a GPU that was there is gone from a good scrape, and comes back',
    backend: 'dcgm',
    runs: [
      ...from(0, 1, () => gpus({ 'GPU-1': {}, 'GPU-2': {} })),
      ...from(2, 5, () => gpus({ 'GPU-1': {} })),
      ...from(6, 7, () => gpus({ 'GPU-1': {}, 'GPU-2': {} })),
    ],
    pushes: [
      [2, 'fired', 'gpu_lost'],
      [7, 'resolved', 'gpu_lost'],
    ],
  },
  {
    name: 'gpu_lost: an exporter that does not answer has lost nothing yet',
    backend: 'dcgm',
    runs: [
      ...from(0, 1, () => gpus({ 'GPU-1': {}, 'GPU-2': {} })),
      ...from(2, 3, () => 'refused'),
      { minute: 4, served: gpus({ 'GPU-1': {}, 'GPU-2': {} }) },
    ],
    pushes: [],
  },
  {
    name: 'observer: degraded fires once and clears',
    backend: 'gateway',
    runs: [
      { minute: 0, served: gateway() },
      ...from(1, 3, () => gateway({ degraded: 1 })),
      ...from(4, 5, () => gateway()),
    ],
    pushes: [
      [1, 'fired', 'observer'],
      [5, 'resolved', 'observer'],
    ],
  },
  {
    name: 'upstream: health 0 of one upstream',
    backend: 'gateway',
    runs: [
      { minute: 0, served: gateway() },
      ...from(1, 3, () => gateway({ healthB: 0 })),
      ...from(4, 5, () => gateway()),
    ],
    pushes: [
      [1, 'fired', 'upstream'],
      [5, 'resolved', 'upstream'],
    ],
  },
  {
    name: 'rejected: an increase since the last run fires, also when the reason is seen for the first time',
    backend: 'gateway',
    runs: [
      ...from(0, 1, () => gateway()),
      ...from(2, 4, (m) => gateway({ rejected: 3 * (m - 1) })),
      ...from(5, 6, () => gateway({ rejected: 9 })),
    ],
    pushes: [
      [2, 'fired', 'rejected'],
      [6, 'resolved', 'rejected'],
    ],
  },
  {
    name: 'rejected: what was rejected before our first look is not told',
    backend: 'gateway',
    runs: from(0, 3, () => gateway({ rejected: 900, stale: 40, queueFull: 7 })),
    pushes: [],
  },
  {
    name: 'stale: the gateway judged by an old engine state',
    backend: 'gateway',
    runs: [
      ...from(0, 1, () => gateway()),
      { minute: 2, served: gateway({ stale: 1 }) },
      ...from(3, 4, () => gateway({ stale: 1 })),
    ],
    pushes: [
      [2, 'fired', 'stale'],
      [4, 'resolved', 'stale'],
    ],
  },
  {
    name: 'queue_full: one request was refused',
    backend: 'gateway',
    runs: [
      ...from(0, 1, () => gateway()),
      { minute: 2, served: gateway({ queueFull: 1 }) },
      ...from(3, 4, () => gateway({ queueFull: 1 })),
    ],
    pushes: [
      [2, 'fired', 'queue_full'],
      [4, 'resolved', 'queue_full'],
    ],
  },
  {
    name: 'parked: off unless a limit is set',
    backend: 'gateway',
    runs: from(0, 3, (m) => gateway({ parked: 5 * m })),
    pushes: [],
  },
  {
    name: 'parked: told where a limit is set',
    backend: 'gateway',
    env: { GATEWAY_PARKED_LIMIT: '10' },
    runs: [
      ...from(0, 1, (m) => gateway({ parked: 10 * m })),
      ...from(2, 3, (m) => gateway({ parked: 10 + 11 * (m - 1) })),
    ],
    pushes: [[2, 'fired', 'parked']],
  },
  {
    name: "kv_cache and inflight: from the gateway's mirror of the engine",
    backend: 'gateway',
    env: { GATEWAY_INFLIGHT_LIMIT: '64' },
    runs: [...from(0, 5, () => gateway({ kv: 0.9 })), { minute: 6, served: gateway({ kv: 0.9, running: 64 }) }],
    pushes: [
      [5, 'fired', 'kv_cache'],
      [6, 'worse', 'inflight'],
    ],
  },
  {
    name: 'errors: 5xx of the gateway',
    backend: 'gateway',
    runs: [...from(0, 1, (m) => gateway({ ok: 100 * m })), { minute: 2, served: gateway({ ok: 190, bad: 20 }) }],
    pushes: [[2, 'fired', 'errors']],
  },
]
