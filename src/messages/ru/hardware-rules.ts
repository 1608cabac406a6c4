import type { Catalogue } from '../texts.ts'
import { capital, n } from './phrases.ts'
import { measured, plain } from './rule-shapes.ts'
import { xidClass, xidTodo } from './xids.ts'

export const hardwareRulesRu = {
  gpu_memory: {
    ...measured('Память GPU почти занята', 'В памяти GPU снова есть место', 'Память GPU занята на', n.percent),
    todo: () =>
      'Сервер, который резервирует память при старте, останется на этом уровне: тогда GPU_MEMORY_LIMIT=off. Иначе ищите чужие процессы (nvidia-smi).',
  },
  gpu_temperature: {
    ...measured('GPU перегревается', 'GPU остыл', 'Температура GPU', (value) => `${n.count(value)} °C`),
    todo: () => 'Проверьте вентиляторы, обдув и соседние карты; на пределе GPU сам сбросит частоты.',
  },
  gpu_xid: {
    headline: ({ value }) => (value === undefined ? 'GPU сообщает об ошибке' : `Ошибка GPU, XID ${value}`),
    now: ({ value }) =>
      value === undefined ? 'Драйвер сообщает об ошибке.' : `Драйвер сообщает XID ${value}${xidClass(value)}.`,
    over: 'GPU больше не сообщает об ошибке',
    todo: ({ value }) => (value ? capital(xidTodo(value)) : undefined),
  },
  gpu_lost: plain(
    'GPU пропал',
    'Экспортёр больше не показывает GPU, который здесь был.',
    'GPU вернулся',
    'Ищите в dmesg Xid 79 (отвалился от шины). Выведите узел из работы; перезагрузка, лучше по питанию, вернёт карту или покажет, что её больше нет.',
  ),
  gpu_remap: {
    headline: ({ value }) =>
      value === undefined ? 'Строку памяти GPU не удалось заменить' : 'GPU теряет строки памяти',
    now: ({ value }) =>
      value === undefined
        ? 'Заменить сбойную строку памяти запасной не удалось.'
        : `Неисправимые ошибки ещё в ${n.count(value)} ${n.plural(value, { one: 'строке', other: 'строках' })} памяти.`,
    over: 'GPU больше не теряет строки памяти',
    todo: ({ value }) =>
      value === undefined
        ? 'Выведите GPU из работы и замените карту.'
        : 'Снимите нагрузку и сбросьте GPU, тогда включатся запасные строки. Если повторится, замените карту.',
  },
  gpu_throttle: {
    headline: () => 'Железо тормозит GPU',
    now: ({ value }) => `Частоты снижены: ${throttledBy(value)}.`,
    over: 'GPU снова на обычных частотах',
    todo: () => 'Проверьте охлаждение, питание и кабели (nvidia-smi -q -d PERFORMANCE); до тех пор сервер медленнее.',
  },
} satisfies Partial<Catalogue['rules']>

/** Bits of the clocks' event reasons: NVIDIA Management Library, `nvmlClocksEventReasons`. */
const REASONS: readonly (readonly [bit: number, words: string])[] = [
  [0x40, 'перегрев (железо)'],
  [0x20, 'перегрев (драйвер)'],
  [0x80, 'внешний сигнал по питанию'],
  [0x08, 'аппаратное замедление'],
]

export function throttledBy(mask = 0): string {
  const found = REASONS.filter(([bit]) => (mask & bit) !== 0).map(([, words]) => words)
  return found.length === 0 ? 'причина в железе' : found.join(', ')
}
