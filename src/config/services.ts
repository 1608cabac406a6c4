import type { Service } from '../model/config.ts'

/** What an address and a token of one service must be. */
interface ServiceForm {
  /** For the problem of an address that is none. */
  example: string
  /** Nobody else may know the address: there is no token, or it does not guard the address. */
  isSecret?(url: URL): boolean
  needsToken?(url: URL): boolean
  /** The address is all that it takes. */
  takesNoToken?(url: URL): boolean
  /** Without a token nothing is wrong, but most servers refuse. */
  wantsToken?: true
  /** Why it cannot be used, in words that follow the variable's name. */
  problem?(url: URL): string | undefined
}

const never = () => false
const always = () => true

function ofGotify(url: URL): string | undefined {
  const isBase = !/\/message\/*$/.test(url.pathname) && url.search === ''
  return isBase ? undefined : 'is the base address of the push server: leave out /message and any query'
}

function ofTelegram({ searchParams }: URL): string | undefined {
  if (!searchParams.get('chat'))
    return 'names no chat; write ?chat=<id> at the end, as in telegram+https://api.telegram.org?chat=-100123'
  return /^\d*$/.test(searchParams.get('thread') ?? '') ? undefined : 'thread= may be a number'
}

/** https://github.com/binwiederhier/ntfy/blob/main/server/server.go: what a topic may be. */
const TOPIC = /^[-_A-Za-z0-9]{1,64}$/

function ofNtfy({ pathname }: URL): string | undefined {
  const topic = pathname.replace(/\/+$/, '').split('/').at(-1) ?? ''
  if (topic === '') return 'names no topic; write it at the end, as in ntfy+https://ntfy.sh/topic'
  if (TOPIC.test(topic)) return undefined
  return 'ends in what is no topic: ntfy takes 1 to 64 letters, digits, - and _, as in ntfy+https://ntfy.sh/gpu-alerts'
}

/** Slack's two forms: a webhook's address, or a bot's method with its channel. */
function isBot(url: URL): boolean {
  return url.searchParams.has('channel')
}

function isHook(url: URL): boolean {
  return !isBot(url)
}

const FORMS: Readonly<Record<Service, ServiceForm>> = {
  notifly: { example: 'https://push.example.com', wantsToken: true, problem: ofGotify },
  gotify: { example: 'https://push.example.com', wantsToken: true, problem: ofGotify },
  ntfy: { example: 'https://ntfy.sh/topic', problem: ofNtfy },
  telegram: { example: 'https://api.telegram.org?chat=-100123', needsToken: always, problem: ofTelegram },
  slack: { example: 'https://slack.com/api?channel=C123', isSecret: isHook, takesNoToken: isHook, needsToken: isBot },
  discord: { example: 'https://discord.com/api/webhooks/<id>/<token>', isSecret: always, takesNoToken: always },
  teams: {
    example: 'https://prod-1.westeurope.logic.azure.com/workflows/…',
    isSecret: always,
    takesNoToken: always,
  },
  pagerduty: { example: 'https://events.pagerduty.com', needsToken: always },
  alertmanager: { example: 'http://10.0.0.9:9093' },
  webhook: { example: 'https://hooks.example.com/queuebell', isSecret: always },
}

export function formOf(
  service: Service,
): Required<Pick<ServiceForm, 'isSecret' | 'needsToken' | 'takesNoToken'>> & ServiceForm {
  return { isSecret: never, needsToken: never, takesNoToken: never, ...FORMS[service] }
}
