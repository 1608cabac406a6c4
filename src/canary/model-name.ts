import { isRecord, parseJson } from '../model/json.ts'

/** Whether an answer's model is the one asked for: the last part of a path counts, and a date may follow a name. */
export function isSameModel(asked: string, answered: string): boolean {
  const [one, other] = [lastPart(asked), lastPart(answered)]
  return one === other || other.startsWith(`${one}-`) || other.startsWith(`${one}:`) || other.startsWith(`${one}@`)
}

function lastPart(name: string): string {
  const parts = name
    .toLowerCase()
    .replace(/\.gguf$/, '')
    .split(/[\\/]/)
  return parts.at(-1) ?? ''
}

/** Where a server may name one model: its id, what it stands for, and its aliases. */
const NAMES = ['id', 'name', 'model', 'root', 'aliases']

/**
 * Whether `/v1/models` lists a name. llama.cpp answers whatever name it is asked for, and lists the one that it has.
 * @returns `undefined` when the text is no such list.
 */
export function isListed(model: string, text: string): boolean | undefined {
  const answer = parseJson(text)
  if (!isRecord(answer)) return undefined
  const lists = [answer.data, answer.models].filter(Array.isArray)
  if (lists.length === 0) return undefined
  const names = lists
    .flat()
    .filter(isRecord)
    .flatMap((listed) => NAMES.flatMap((name) => listed[name]))
  return names.some((name) => typeof name === 'string' && lastPart(name) === lastPart(model))
}
