import type { Language } from '../model/config.ts'
import { compose } from './compose.ts'
import { group } from './group.ts'
import { SAMPLE_NOW, samples } from './samples.ts'

/** Every sample message of one language as text, for a person to read from top to bottom. */
export function gallery(language: Language): string {
  const options = { markdown: false, link: () => undefined, now: SAMPLE_NOW }
  return samples()
    .flatMap(({ name, facts }) =>
      group(facts).map((notes) => {
        const message = compose(notes, language, options)
        return `--- ${name} [${message.priority}]\n${message.title}\n${message.body}\n`
      }),
    )
    .join('\n')
}
