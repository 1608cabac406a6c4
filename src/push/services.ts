import type { Service } from '../model/config.ts'
import { alertmanager } from './alertmanager.ts'
import type { Channel } from './channel.ts'
import { discord } from './discord.ts'
import { gotify, notifly } from './notifly.ts'
import { ntfy } from './ntfy.ts'
import { pagerduty } from './pagerduty.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { webhook } from './webhook.ts'

/** How each service is spoken to. */
export const CHANNELS: Readonly<Record<Service, Channel>> = {
  notifly,
  gotify,
  ntfy,
  telegram,
  slack,
  discord,
  teams,
  pagerduty,
  alertmanager,
  webhook,
}
