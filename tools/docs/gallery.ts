import { compose } from '../../src/messages/compose.ts'
import { group } from '../../src/messages/group.ts'
import type { Language } from '../../src/model/config.ts'
import { SAMPLE_NOW } from './sample-parts.ts'
import { samples } from './samples.ts'

/** Every sample message of one language as text, for a person to read from top to bottom. */
export function gallery(language: Language): string {
  const options = { markdown: false, link: () => undefined, now: SAMPLE_NOW }
  return samples()
    .flatMap(({ name, notifications }) =>
      group(notifications).map((told) => {
        const message = compose(told, language, options)
        return `--- ${name} [${message.priority}]\n${message.title}\n${message.body}\n`
      }),
    )
    .join('\n')
}
