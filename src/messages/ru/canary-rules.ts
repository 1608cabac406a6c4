import type { Catalogue } from '../texts.ts'
import { n } from './phrases.ts'

/** What a canary finds out beyond its wait. */
export const canaryRulesRu = {
  canary_rate: {
    headline: () => 'Модель пишет медленно',
    now: ({ value, usual }) =>
      value === undefined || usual === undefined
        ? 'Ответ на пробный запрос шёл намного медленнее обычного.'
        : `Ответ на пробный запрос шёл со скоростью ${n.count(usual * Math.max(0, 1 - value))} ток./с, обычно ${n.count(usual)}.`,
    over: 'Модель пишет с прежней скоростью',
    peak: (value) => `падение было до ${n.percent(value)}`,
    todo: () =>
      'Смотрите GPU (nvidia-smi: частоты, температура, память, чужие процессы) и что выполняется рядом с нашим запросом.',
  },
  wrong_answer: {
    headline: () => 'Модель отвечает неверно',
    now: ({ answer }) => {
      if (answer === undefined) return 'Ответ на пробный запрос не похож на ожидаемый.'
      const said = answer.text === '' || answer.text === undefined ? 'пустой ответ' : `«${answer.text}»`
      return `На пробный запрос пришло: ${said}; ожидалось ${answer.expected}.`
    },
    over: 'Модель снова отвечает как ожидается',
    todo: () =>
      'Сервер работает, а модель нет: не сменились ли она, квантование или шаблон чата? Сверьте её digest и загрузите заново.',
  },
  quota: {
    headline: () => 'Лимит запросов почти исчерпан',
    now: ({ quota, value }) => {
      if (quota === undefined)
        return value === undefined
          ? 'От лимита запросов почти ничего не осталось.'
          : `От лимита запросов осталось ${n.percent(value)}.`
      const what = quota.what === 'requests' ? 'запросы' : quota.what === 'tokens' ? 'токены' : `«${quota.what}»`
      return `От лимита сервиса (${what}) осталось ${n.count(quota.left)} из ${n.count(quota.of)}. Дальше начнутся отказы с кодом 429.`
    },
    over: 'Лимит запросов снова с запасом',
    peak: (value) => `в худший момент оставалось ${n.percent(value)}`,
    todo: () =>
      'Распределите запросы по времени или ключам, попросите у провайдера лимит выше. Кто ещё пользуется этим ключом?',
  },
} satisfies Partial<Catalogue['rules']>
