import type { RunProgress } from '../../model/notification.ts'
import type { Catalogue, Fact } from '../texts.ts'
import { n } from './phrases.ts'

export const workerRulesRu = {
  heartbeat: {
    headline: ({ beat }) => {
      if (beat?.failed) return 'Воркер сообщил о сбое'
      if (beat?.never) return 'Воркер ни разу не отметился'
      return beat?.stands ? 'Воркер стоит на месте' : 'Воркер молчит'
    },
    now: heartbeat,
    over: 'Воркер снова на связи',
    todo: ({ beat }) => {
      if (beat?.failed || beat?.stands) return 'Смотрите лог самого воркера.'
      return beat?.never ? 'Верны ли у воркера адрес, имя и токен?' : 'Жив ли воркер и доступен ли ему приёмник?'
    },
  },
  overrun: {
    headline: () => 'Прогон воркера не заканчивается',
    now: ({ run }) => {
      if (run === undefined) return 'Прогон начался и не закончился.'
      const than =
        run.usual === undefined
          ? run.limit === undefined
            ? ''
            : ` (порог ${n.lasted(run.limit)})`
          : `, обычно занимает ${n.lasted(run.usual)}`
      return `Прогон идёт уже ${n.lasted(run.for)}${than}.${progress(run.progress)}`
    },
    over: 'Прогон воркера закончился',
    todo: ({ run }) =>
      run?.progress?.left === undefined
        ? 'Смотрите лог воркера: завис или убит без предупреждения?'
        : 'Он ещё движется: работы больше обычного или то, чего он ждёт, работает медленно?',
  },
} satisfies Partial<Catalogue['rules']>

function heartbeat({ beat }: Fact): string {
  if (!beat) return 'Сигнал не пришёл вовремя.'
  const grace = `запас ${n.lasted(beat.grace)}`
  const { due } = beat
  const when = due ? `расписание ${due.text}, ${due.zone}, ${grace}` : `период ${n.lasted(beat.interval)}, ${grace}`
  if (beat.failed) {
    const code = beat.failed.exit
    return code === undefined ? 'Воркер сам сообщил о сбое.' : `Воркер сам сообщил о сбое, код завершения ${code}.`
  }
  if (beat.stands && beat.progress)
    return `Воркер стоит на ${n.count(beat.progress.n)} из ${n.count(beat.progress.of)} уже ${n.lasted(beat.progress.stoodFor)}.`
  const far = progress(beat.progress)
  if (beat.never)
    return due
      ? `Сигнала за ${due.at} нет, как не было и раньше (${when}).`
      : `Ни одного сигнала ещё не было (${when}).`
  if (due) return `Сигнала за ${due.at} нет (${when}).${far}`
  return beat.age === undefined
    ? `Сигнал не пришёл вовремя (${when}).${far}`
    : `Последний сигнал был ${n.lasted(beat.age)} назад (${when}).${far}`
}

/** ` Готово 412 из 1000, при такой скорости осталось около 2 ч.` */
function progress(at: RunProgress | undefined): string {
  if (at === undefined) return ''
  const far = `${n.count(at.n)} из ${n.count(at.of)}`
  if (at.left === undefined && at.stoodFor < 60_000) return ` Готово ${far}.`
  return at.left === undefined
    ? ` Готово ${far}, без движения ${n.lasted(at.stoodFor)}.`
    : ` Готово ${far}, при такой скорости осталось около ${n.estimate(at.left / 1_000)}.`
}
