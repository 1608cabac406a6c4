import { defined } from '../model/defined.ts'
import { isRecord, parseJson } from '../model/json.ts'

/** The data of one server-sent event, or a comment: many servers and gateways send `: keep-alive` while a request waits. */
export type StreamEvent = { data: string; isError: boolean } | { comment: string }

/**
 * Server-sent events out of lines: https://html.spec.whatwg.org/multipage/server-sent-events.html
 * Lenient as servers are: an event may lack its blank line, at the end of the stream or before the next event; a line
 * that begins with `{` is taken for a body that was not streamed, given whole as its data; an error may be marked by the
 * name of its event or, as llama.cpp did, of its field. An event without data is as good as a comment.
 */
export async function* events(lines: AsyncIterable<string>): AsyncGenerator<StreamEvent> {
  let data: string[] = []
  let name = ''
  let plain = ''
  const event = (): StreamEvent => {
    const text = data.join('\n')
    return text.trim() === '' ? { comment: '' } : { data: text, isError: name === 'error' }
  }
  for await (const line of lines) {
    if (plain !== '' || (data.length === 0 && line.trimStart().startsWith('{'))) {
      plain += `${line}\n`
      continue
    }
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (line === '') {
      if (data.length > 0) yield event()
      data = []
      name = ''
    } else if (field === '') {
      yield { comment: value }
    } else if (field === 'event') {
      name = value
    } else if (field === 'error') {
      yield { data: value, isError: true }
    } else if (field === 'data') {
      if (data.length > 0 && isWhole(data.join('\n'))) {
        yield event()
        data = []
      }
      data.push(value)
    }
  }
  if (data.length > 0) yield event()
  if (plain !== '') yield { data: plain, isError: false }
}

function isWhole(data: string): boolean {
  return isDone(data) || isRecord(parseJson(data))
}

function isDone(data: string): boolean {
  return data.trim() === '[DONE]'
}

/** What one event of a completion stream says. */
export type CompletionEvent =
  | { kind: 'token'; text: string; thoughts: string; model?: string } // a part of the answer, of its reasoning or of a tool call
  | { kind: 'finished'; model?: string } // the answer is at its end, its last token perhaps without text
  | { kind: 'frame'; model?: string } // a role, a usage report, an empty part
  | { kind: 'done' } // [DONE]
  | { kind: 'error'; text: string }
  | { kind: 'other' } // an object that is not part of a completion: a gateway's sign of life, or another kind of server
  | { kind: 'unreadable' }

/** Reads one event's data; the same for chat and for plain completions. */
export function readEvent(data: string): CompletionEvent {
  if (isDone(data)) return { kind: 'done' }
  const value = parseJson(data)
  if (!isRecord(value)) return { kind: 'unreadable' }
  if (value.error !== undefined && value.error !== null) return { kind: 'error', text: data }
  // vLLM and SGLang put an error's fields at the top in some versions.
  if (value.object === 'error') return { kind: 'error', text: data }
  // The usage comes with an empty list, with null, or with no choices at all.
  if (!Array.isArray(value.choices)) return { kind: isRecord(value.usage) ? 'frame' : 'other' }
  const choices = value.choices.filter(isRecord)
  const named = defined({ model: typeof value.model === 'string' ? value.model : undefined })
  if (choices.some(hasToken)) {
    return { kind: 'token', text: textOf(choices, SAID), thoughts: textOf(choices, THOUGHT), ...named }
  }
  const isOver = choices.some((choice) => typeof choice.finish_reason === 'string')
  return { kind: isOver ? 'finished' : 'frame', ...named }
}

const SAID = ['content', 'text', 'refusal'] as const
const THOUGHT = ['reasoning_content', 'reasoning'] as const
const TEXTS = [...SAID, ...THOUGHT] as const

function placesOf(choice: Record<string, unknown>): Record<string, unknown>[] {
  return [choice, choice.delta, choice.message].filter(isRecord)
}

/** The first that has any: a server may give the same text under two names. */
function textOf(choices: readonly Record<string, unknown>[], names: readonly string[]): string {
  const texts = choices.flatMap(placesOf).flatMap((place) => names.map((name) => place[name]))
  return texts.find((text): text is string => typeof text === 'string' && text !== '') ?? ''
}

function hasToken(choice: Record<string, unknown>): boolean {
  return placesOf(choice).some(
    (place) =>
      TEXTS.some((name) => typeof place[name] === 'string' && place[name] !== '') ||
      (Array.isArray(place.tool_calls) && place.tool_calls.length > 0),
  )
}
