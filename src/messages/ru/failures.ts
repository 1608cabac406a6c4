import type { Failure } from '../../state/failure.ts'
import type { Catalogue, FailureTexts } from '../catalogue.ts'

/** ` (ECONNREFUSED)`: the network's own code, where there is one. */
function code(failure: Failure): string {
  return failure.code === undefined ? '' : ` (${failure.code})`
}

function status(failure: Failure, otherwise: string): string {
  return failure.status === undefined ? otherwise : `HTTP ${failure.status}`
}

function same(headline: string, words: string, todo: string): FailureTexts {
  return { headline: () => headline, words: (failure) => `${words}${code(failure)}`, todo: () => todo }
}

/** 503 and 429 come from a server that is alive: full, or still loading its model. */
function isOverload(failure: Failure): boolean {
  return failure.status === 503 || failure.status === 429
}

export const failuresRu: Catalogue['failures'] = {
  refused: same(
    'Сервер лежит',
    'порт никто не слушает',
    'Запущен ли процесс сервера? Пока модель грузится, порт тоже закрыт.',
  ),
  unreachable: same(
    'Сервер недоступен',
    'соединение рвётся или нет маршрута',
    'Проверьте хост, сеть и файрвол между ним и наблюдателем.',
  ),
  'name-not-found': same(
    'Имя сервера не находится',
    'имя хоста не разрешается в DNS',
    'Проверьте имя в адресе и DNS, которым пользуется наблюдатель.',
  ),
  timeout: {
    headline: () => 'Сервер не отвечает вовремя',
    words: (failure, canary) =>
      `за отведённое время ${canary ? 'нет полного ответа' : 'страница метрик не пришла целиком'}${code(failure)}`,
    todo: (_, canary) =>
      canary
        ? 'Так выглядит зависший движок или очень длинная очередь: отправьте запрос вручную, затем смотрите лог сервера.'
        : 'Так выглядит зависший процесс, перегруженный хост или файрвол, глотающий пакеты: откройте страницу вручную.',
  },
  cut: same(
    'Ответ обрывается',
    'ответ оборвался на середине',
    'Соединение закрывает сервер или прокси перед ним: смотрите оба лога.',
  ),
  tls: same('Сбой TLS', 'сбой TLS-рукопожатия', 'Проверьте сертификат: истёк, не то имя, или перепутаны http и https.'),
  'not-authorised': {
    headline: (failure) => `Наблюдателя не пускают${failure.status === undefined ? '' : ` (${failure.status})`}`,
    words: (failure, canary) =>
      `сервер отказывает ${canary ? 'пробному запросу' : 'в доступе к метрикам'} (${status(failure, 'нет доступа')})`,
    todo: () => 'Сам сервер может быть в порядке. Проверьте BEARER_TOKEN или BASIC_AUTH в настройках.',
  },
  'not-found': {
    headline: (failure, canary) =>
      `По адресу нет ${canary ? 'API' : 'метрик'}${failure.status === undefined ? '' : ` (${failure.status})`}`,
    words: (failure, canary) => `по этому адресу нет ${canary ? 'API' : 'метрик'} (${status(failure, 'не найдено')})`,
    todo: () => 'Проверьте порт и путь: тот ли это порт и включены ли метрики?',
  },
  http: {
    headline: (failure, canary) => {
      if (isOverload(failure)) return `Сервер перегружен или грузит модель (HTTP ${failure.status})`
      return `${canary ? 'Сервер отвечает ошибкой' : 'Метрики не читаются'} (${status(failure, 'ошибка HTTP')})`
    },
    words: (failure, canary) =>
      `на ${canary ? 'пробный запрос' : 'запрос метрик'} пришёл ответ ${status(failure, 'с ошибкой HTTP')}`,
    todo: (failure) =>
      isOverload(failure)
        ? 'Сервер жив, но переполнен или ещё грузит модель: не перезапускайте, не посмотрев.'
        : 'Инференс при этом может работать: отправьте запрос вручную, затем смотрите лог сервера.',
  },
  redirected: same(
    'Метрики переехали',
    'сервер перенаправляет на другой адрес, туда мы не ходим',
    'Пропишите новый адрес в настройке эндпоинта.',
  ),
  'not-prometheus': same(
    'По адресу отдают не метрики',
    'вместо метрик пришла веб-страница, JSON или пустота',
    'Возможно, впереди стоит прокси или страница входа: откройте адрес вручную.',
  ),
  compressed: same(
    'Метрики нечитаемы',
    'пришли сжатые байты без указания об этом',
    'Прокси теряет заголовок Content-Encoding: пропустите его или выключите сжатие.',
  ),
  'too-large': same(
    'Страница метрик слишком велика',
    'страница метрик больше 16 МиБ',
    'Что-то плодит ряды (метки на каждого пользователя или ключ): сократите их на сервере.',
  ),
  'stream-error': same(
    'Сервер обрывает ответ ошибкой',
    'ответ начался и закончился ошибкой',
    'Смотрите лог сервера: чаще всего модели не хватило памяти.',
  ),
  'bad-answer': same('Ответ непонятен', 'ответ не удалось разобрать', 'Тот ли это сервер? Отправьте запрос вручную.'),
  other: same('Сервер не отвечает', 'запрос не удался', 'Проверьте адрес вручную с машины наблюдателя.'),
}
