import type { StateConfig } from '../config/config.ts'
import { openFileStore } from './file.ts'
import { openS3Store } from './s3.ts'
import type { Store } from './store.ts'

/** The store that the configuration names. */
export function openStore(config: StateConfig): Store {
  switch (config.kind) {
    case 's3':
      return openS3Store(config)
    case 'file':
      return openFileStore(config.dir)
    default:
      return config satisfies never
  }
}
