import { buttonsOf, type Channel, jsonRequest } from './channel.ts'
import { fitEscaped, sent } from './text.ts'

/** 28 KB for the whole card. https://learn.microsoft.com/en-us/microsoftteams/limits-specifications-teams */
const MOST = 6_000
const MOST_TITLE = 500

/** A workflow's address, which is the secret. Its 202 says that the workflow began, no more. */
export const teams: Channel = {
  together: 'message',
  write({ message }, to) {
    const block = (text: string, more: Record<string, unknown>) => ({ type: 'TextBlock', text, wrap: true, ...more })
    const title = fitEscaped(message.title, MOST_TITLE, marked, sent)
    const body = fitEscaped(message.body, MOST, marked, sent).replaceAll('\n', '\n\n')
    const buttons = buttonsOf(message)
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [
        ...(title === '' ? [] : [block(title, { weight: 'Bolder', size: 'Medium' })]),
        block(body, {}),
        ...(message.picture ? [{ type: 'Image', url: message.picture, altText: message.title, size: 'Stretch' }] : []),
      ],
      ...(buttons.length > 0 && {
        actions: buttons.map(({ label, url }) => ({ type: 'Action.OpenUrl', title: label, url })),
      }),
      msteams: { width: 'Full' },
    }
    const card = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }
    return { request: jsonRequest(to.url, { type: 'message', attachments: [card] }) }
  },
  judge({ status, text }) {
    // What a connector says with 200: "Webhook message delivery failed with error: … returned HTTP error 429 …".
    const failed = status === 200 ? /failed with error.*?(\d{3})?\b/i.exec(text) : null
    if (failed === null) return undefined
    return { action: /\b429\b/.test(text) ? 'limited' : /\b413\b/.test(text) ? 'shorter' : 'again' }
  },
  page: {
    address: '`teams+https://…` (the whole address of the workflow, a secret)',
    token: '–',
    limit: '6,000 characters of a card of 28 KB',
    thread: 'a message each: the service changes none',
    quiet: 'no difference',
  },
}

/** The marks that a TextBlock reads. */
const marked = (character: string) => (/[\\*_[\]()~`#<>]/.test(character) ? `\\${character}` : character)
