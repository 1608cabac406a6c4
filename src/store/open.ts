import type { StateConfig } from '../model/config.ts'
import type { Store } from '../model/store.ts'
import { openFileStore } from './file.ts'
import { openS3Store } from './s3.ts'

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
