import path from 'node:path'
import { expect, test } from 'vitest'
import { pushPage } from '../../tools/docs/push-page.ts'
import { rulesPage } from '../../tools/docs/rules-page.ts'
import { signalsPage } from '../../tools/docs/signals-page.ts'

const docs = path.resolve(import.meta.dirname, '../../docs')

// `npx vitest run test/docs -u` writes the pages anew.
test('docs/push.md is the page that the code makes', async () => {
  await expect(pushPage()).toMatchFileSnapshot(path.join(docs, 'push.md'))
})

test('docs/rules.md is the page that the code makes', async () => {
  await expect(rulesPage()).toMatchFileSnapshot(path.join(docs, 'rules.md'))
})

test('docs/signals.md is the page that the code makes', async () => {
  await expect(signalsPage()).toMatchFileSnapshot(path.join(docs, 'signals.md'))
})
