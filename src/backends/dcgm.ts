import type { BackendTable } from '../model/backend.ts'

/**
 * NVIDIA's DCGM exporter. Which fields appear is set by a file of its own, and a field without a value is left out.
 * A GPU is named by its UUID and, where it is split, the MIG instance: numbers change at a reboot, pods come and go.
 */
export const dcgm: BackendTable = {
  signals: {
    gpu_utilisation: {
      from: [
        { name: 'DCGM_FI_DEV_GPU_UTIL', per: 100 },
        { name: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE' }, // 0..1; all that a MIG instance has
      ],
      perSubject: true,
      core: true,
    },
    gpu_memory: {
      from: [
        { name: 'DCGM_FI_DEV_FB_USED', rest: 'DCGM_FI_DEV_FB_FREE' }, // reserved memory counts on neither side
        { name: 'DCGM_FI_DEV_FB_USED_PERCENT' }, // 0..1 despite the name
      ],
      perSubject: true,
      core: true,
    },
    gpu_temperature: { from: [{ name: 'DCGM_FI_DEV_GPU_TEMP' }], perSubject: true, core: true },
    gpu_xid: {
      from: [{ name: 'DCGM_FI_DEV_XID_ERRORS' }],
      perSubject: true,
      core: true,
      zeroBeside: 'gpu_utilisation',
    },
    gpu_remap_failed: { from: [{ name: 'DCGM_FI_DEV_ROW_REMAP_FAILURE' }], perSubject: true, optional: true },
    gpu_remapped_rows: {
      from: [{ name: 'DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS' }],
      perSubject: true,
      optional: true,
    },
    gpu_throttle: {
      from: [
        { name: 'DCGM_FI_DEV_CLOCKS_EVENT_REASONS' },
        { name: 'DCGM_FI_DEV_CLOCK_THROTTLE_REASONS' }, // 3.x
      ],
      perSubject: true,
      optional: true, // not in the exporter's default list
    },
  },
  oneCoreIsEnough: true,
  port: 9400,
  modelLabels: [],
  repeats: [],
  ignored: ['err_code', 'err_msg', ...['pod', 'namespace', 'container', 'pod_name', 'pod_namespace', 'container_name']],
  subject: {
    kind: 'gpu',
    id: 'UUID',
    number: 'gpu',
    instance: 'GPU_I_ID',
    name: ['modelName', 'GPU_I_PROFILE'],
  },
  recognise: [
    { series: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE', as: 'DCGM exporter with profiling (4.x)' },
    { series: 'DCGM_FI_DEV_FB_USED', as: 'DCGM exporter' },
    { series: 'DCGM_FI_DEV_GPU_UTIL', as: 'DCGM exporter' },
    { series: 'DCGM_FI_DEV_MEMORY_TEMP', as: 'DCGM exporter' },
  ],
}
