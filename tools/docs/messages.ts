import { endWithReader } from '../../src/cli/closed-pipe.ts'
import { gallery } from './gallery.ts'

/** `npm run messages`: every message in both languages. `npm run messages -- ru` prints one. */
endWithReader()
const asked = process.argv[2]
for (const language of ['en', 'ru'] as const) {
  if (asked === undefined || asked === language) process.stdout.write(`${gallery(language)}\n`)
}
