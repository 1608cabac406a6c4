import { CATALOGUES } from '../messages/compose.ts'
import { sanitizeText } from '../messages/sanitize.ts'
import type { DerivedSignal } from '../model/notification.ts'
import { spark } from './chart-svg.ts'
import { type Reader, timeOf } from './document.ts'
import { figureOf } from './figure.ts'
import { escapeHtml } from './html.ts'
import { headlineOfRule, PAGE_WORDS, valueText } from './texts.ts'
import type { EndpointView } from './view.ts'

/** Numbers of a row, in their order, where they are known. */
const SHOWN: readonly DerivedSignal[] = [
  'waiting',
  'canary_wait',
  'canary_ttft',
  'beat_age',
  'gpu_memory',
  'kv_cache',
  'running',
  'ttft_p99',
  'tokens_per_second',
  'failed_share',
]
/** Beside the first one. */
const BESIDE = 4

/** One endpoint in one row: name, course and value of its main signal, and what else is known; with room, its charts below. */
export function endpointRow(endpoint: EndpointView, reader: Reader, hasRoom: boolean): string {
  const { charts, model } = endpoint
  const words = PAGE_WORDS[reader.language]
  const [main, ...others] = numberTexts(endpoint, reader)
  const state = stateOf(endpoint, reader)
  const value =
    main === undefined ? `<span class="v bad">${down(endpoint, reader)}</span>` : `<span class="v">${main}</span>`
  const beside = [
    ...state,
    ...others.slice(0, BESIDE),
    ...(endpoint.gpus.length > 1 ? [`${endpoint.gpus.length} GPU`] : []),
  ].join(' · ')
  const named = model === undefined ? '' : `<i>${beside === '' ? '' : ' · '}${escapeHtml(sanitizeText(model, 40))}</i>`
  const chart = !hasRoom && charts[0] && isMoving(charts[0]) ? spark(charts[0]) : ''
  const figures = hasRoom ? charts.filter(isMoving).map((one) => figureOf(one, reader)) : []
  const below = figures.length > 0 ? `<div class="k">${figures.join('')}</div>` : ''
  const name = `<b>${escapeHtml(endpoint.name)}</b>`
  const none = endpoint.up === undefined ? `<span class="v m">${words.notAsked}</span>` : value
  return `<li class="r${chart === '' ? ' g' : ''}">${name}${chart}${none}<span class="m">${beside}${named}</span>${below}</li>`
}

/** The numbers of an endpoint in words, the main one first. */
export function numberTexts(endpoint: EndpointView, reader: Reader): string[] {
  const { numbers } = endpoint
  const known = SHOWN.filter((signal) => numbers[signal] !== undefined && isTelling(signal, numbers[signal] ?? 0))
  return known.map((signal) => signalText(signal, endpoint, reader))
}

export function isMoving({ points }: EndpointView['charts'][number]): boolean {
  return points.filter(([, value]) => value !== null).length > 1
}

/** A share of failed requests is worth its room only where there is one. */
function isTelling(signal: DerivedSignal, value: number): boolean {
  return signal !== 'failed_share' || value > 0
}

function signalText(signal: DerivedSignal, { numbers, atLeast }: EndpointView, { language }: Reader): string {
  const text = `${atLeast.includes(signal) ? '≥ ' : ''}${valueText(signal, numbers[signal] ?? 0, language)}`
  const name = PAGE_WORDS[language].signal[signal] ?? signal
  // `3 waiting`, but `KV 61 %`: what is counted comes after its number.
  const isCounted = /^(waiting|running|tokens_per_second|failed_share)$/.test(signal)
  return isCounted ? `${signal === 'waiting' ? `<b>${text}</b>` : text} ${name}` : `${name} ${text}`
}

function stateOf({ quiet, pending }: EndpointView, reader: Reader): string[] {
  const words = PAGE_WORDS[reader.language]
  return [
    ...(quiet
      ? [
          `<span class="warn">${quiet.kind === 'maintenance' ? words.maintenance(timeOf(quiet.until, reader)) : words.silenced(timeOf(quiet.until, reader))}</span>`,
        ]
      : []),
    ...pending.map(
      (rule) => `<span class="warn">${escapeHtml(headlineOfRule(rule, reader.language))} (${words.pending})</span>`,
    ),
  ]
}

function down({ failure }: EndpointView, { language }: Reader): string {
  if (!failure) return '–'
  return escapeHtml(CATALOGUES[language].failures[failure.kind].words({ ...failure, detail: undefined }, false))
}
