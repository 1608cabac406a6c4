import type { Language, PageLinks } from '../model/config.ts'
import type { Message } from '../model/message.ts'
import type { Notification } from '../model/notification.ts'
import { actLink, pictureLink } from './links.ts'

const ACT: Record<Language, string> = { en: 'Acknowledge or silence', ru: 'Принять или заглушить' }
const ACKNOWLEDGE: Record<Language, string> = { en: 'Acknowledge', ru: 'Принять в работу' }

/**
 * A message with the links and the picture of what it tells; as it is, where all of it is over or concerns the watcher
 * alone. The picture is drawn when somebody asks for it: nothing here takes time.
 * @param name of the function. @param now epoch milliseconds.
 */
export function withPageLinks(
  message: Message,
  group: readonly Notification[],
  page: PageLinks,
  { name, language, now }: { name: string; language: Language; now: number },
): Message {
  const lasting = group
    .filter(({ endpoint, reason }) => endpoint !== undefined && reason !== 'resolved' && reason !== 'late')
    .sort((a, b) => b.priority - a.priority)
  const incidents = [...new Set(lasting.map(({ incident }) => incident))]
  const [worst] = incidents
  if (worst === undefined) return message
  const act = actLink(page, name, incidents, now)
  return {
    ...message,
    link: message.link ?? act,
    links: [{ label: ACT[language], url: act }],
    press: { label: ACKNOWLEDGE[language], url: act, body: 'do=acknowledge' },
    // Of what does not answer there is nothing to see.
    ...(lasting[0]?.rule === 'down' ? {} : { picture: pictureLink(page, name, worst, now) }),
  }
}
