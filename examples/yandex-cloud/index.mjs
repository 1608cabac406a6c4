/**
 * Queuebell as a Yandex Cloud Function, started by a timer trigger. Beside this file lie vllm.mjs and vllm.cjs (npm run build).
 * What differs from AWS Lambda: the event has the tick's time in its message's metadata, and the state lies in Object
 * Storage (`S3_ENDPOINT=https://storage.yandexcloud.net`, `AWS_REGION=ru-central1`, a static key of a service account).
 */
import { handler as run } from './vllm.mjs'

export async function handler(event, context) {
  // As in Lambda, the disk does not last: with this, a state folder and a missing push server are refused.
  process.env.AWS_LAMBDA_FUNCTION_NAME ??= context?.functionName ?? 'queuebell'
  const time = event?.messages?.[0]?.event_metadata?.created_at
  return run(time === undefined ? {} : { time }, context)
}
