import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { leftOut } from './test/left-out.ts'
import { LONG } from './test/long.ts'

/** They replace modules (`vi.mock`), which holds for all files of a worker: each gets a worker of its own. */
const MOCKING = ['test/heartbeats/serve.test.ts', 'test/store/lock.test.ts', 'test/targets/dns.test.ts']

/** It measures memory and times under load: nothing may run beside it. */
const ALONE = ['test/heartbeats/load.test.ts']

export default defineConfig({
  test: {
    // Modules are read once a worker, not once a file: a third of the time.
    isolate: false,
    setupFiles: 'test/fresh-process.ts',
    // Vitest leaves one core free, of two that is half of them.
    maxWorkers: availableParallelism(),
    // Ten times what they take on a machine of their own: two shared cores have bad minutes.
    testTimeout: 60_000,
    // Hooks start servers and build bundles, on machines that have more to do.
    hookTimeout: 60_000,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    tags: [{ name: 'long', description: 'takes minutes: only by npm run test:long and in CI', skip: !LONG }],
    reporters: ['default', leftOut],
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts'],
          exclude: [...MOCKING, ...ALONE],
          globalSetup: 'test/run-folder.ts',
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'mocking', include: MOCKING, isolate: true, sequence: { groupOrder: 0 } } },
      { extends: true, test: { name: 'alone', include: ALONE, sequence: { groupOrder: 1 } } },
    ],
  },
})
