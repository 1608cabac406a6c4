import type { PageConfig } from '../config/page.ts'
import type { Backend } from '../model/backend.ts'
import type { Store } from '../model/store.ts'
import type { Reader } from './document.ts'
import { ALL } from './links.ts'
import { type LoadedState, loadAll } from './states.ts'
import type { PageView } from './view.ts'
import { type EndpointSettings, viewOfState } from './view-of-state.ts'

/** What an answer is made from, beside the request. */
export interface PageParts {
  config: PageConfig
  store: Store
  /** Epoch milliseconds. */
  now: number
  /** Seconds after which the status page asks for itself again, where that is not a minute. */
  refresh?: number
  settingsOf(backend: Backend): (endpoint: string, names: readonly string[]) => EndpointSettings
}

export function readerOf({ config: { language, timezone }, now }: PageParts): Reader {
  return { language, timezone, now }
}

export async function viewOfAll(parts: PageParts): Promise<PageView> {
  try {
    return viewOf(await loadAll(parts.store), parts)
  } catch {
    return { now: parts.now, functions: [], broken: [{ function: ALL, why: 'the store does not answer' }] }
  }
}

export function viewOf(loaded: readonly LoadedState[], { now, settingsOf }: PageParts): PageView {
  return {
    now,
    functions: loaded.flatMap((one) =>
      'state' in one ? [viewOfState(one.state, one, settingsOf(one.backend), now)] : [],
    ),
    broken: loaded.flatMap((one) => ('why' in one ? [{ function: one.name, why: one.why }] : [])),
  }
}
