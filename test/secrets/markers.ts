/** Secrets that can be told apart, each with a core of letters and digits that no encoding of a URL changes. */
export const MARKERS = {
  notiflyToken: 'mkNotiflyTokenQ7/+x=1',
  fallbackToken: 'mkFallbackTokenW8',
  bearer: 'mkBearerTokenE9',
  basicPassword: 'mkBasicPassR1',
  urlPassword: 'mkUrlPassT2',
  apiKey: 'mkApiKeyY3',
  pingKey: 'mkPingKeyU4',
  heartbeatToken: 'mkHeartbeatI5',
  s3KeyId: 'mkS3KeyIdO6',
  s3Secret: 'mkS3SecretP7',
  s3Session: 'mkS3SessionA8',
  slackHook: 'mkSlackHookB2',
  discordHook: 'mkDiscordHookC3',
  teamsSig: 'mkTeamsSigD4',
  botToken: 'mkBotTokenF5',
  routingKey: 'mkRoutingKeyG6',
  hookPath: 'mkHookPathH7',
  hookSecret: 'mkHookSecretJ8',
  ntfyPassword: 'mkNtfyPassK9',
} as const
export type Secret = keyof typeof MARKERS

/** Names of the secrets that stand in a text: as they are, inside an encoded text, or in base64 at any offset. */
export function found(text: string): Secret[] {
  return (Object.keys(MARKERS) as Secret[]).filter((name) => forms(MARKERS[name]).some((form) => text.includes(form)))
}

function forms(marker: string): string[] {
  const core = /^[A-Za-z0-9]+/.exec(marker)?.[0] ?? marker
  return [core, ...[0, 1, 2].map((offset) => inBase64(core, offset))]
}

/** The characters of base64 that depend on the text alone when it begins at `offset` bytes after a multiple of three. */
function inBase64(text: string, offset: number): string {
  const encoded = Buffer.from(`${'x'.repeat(offset)}${text}`)
    .toString('base64')
    .replace(/=+$/, '')
  return encoded.slice(offset === 0 ? 0 : offset + 1, -2)
}
