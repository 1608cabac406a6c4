import { describe, expect, test } from 'vitest'
import { TABLES } from '../../src/backends/backends.ts'
import { createPageReader, MAX_LABEL_SETS, MAX_LINE } from '../../src/scrape/page-reader.ts'

import { countsOf, pageOf, readingsOf } from './reading.ts'

const WAITING = 'vllm:num_requests_waiting'
const TTFT = 'vllm:time_to_first_token_seconds'

/** The values of one sample name, in the order of the page. */
function values(body: string, name = WAITING): number[] {
  return (pageOf('vllm', body).samples.get(name) ?? []).map(({ value }) => value)
}

/** The labels of the one sample of a name. */
function labels(body: string, name = WAITING): Record<string, string> | undefined {
  return pageOf('vllm', body).samples.get(name)?.[0]?.labels.values
}

describe('samples', () => {
  test('case 3: a HELP line without text and a comma before the brace cost nothing', () => {
    const body = `# HELP executor_total\n# TYPE executor_total counter\nexecutor_total{container="c-1",t="cal",} 0.0\n${WAITING}{model_name="m",} 12.0\n# HELP executor_total \n`
    expect(values(body)).toEqual([12])
    expect(countsOf(pageOf('vllm', body))).toEqual({ lines: 5, comments: 3, sampleCount: 2, malformed: 0 })
  })

  test('case 5: a closing brace inside a label value ends nothing', () => {
    expect(labels(`${WAITING}{name="cluster}prod",os="x"} 5\n`)).toEqual({ name: 'cluster}prod', os: 'x' })
    expect(values(`${WAITING}{name="cluster}prod",os="x"} 5\n`)).toEqual([5])
  })

  test('case 7: a comma list is one label value, and an empty value is no label', () => {
    const body = `${WAITING}{max_lora="4",running_lora_adapters="a,b",waiting_lora_adapters=""} 1.7395575723949368e+09\n`
    expect(labels(body)).toEqual({ max_lora: '4', running_lora_adapters: 'a,b' })
    expect(values(body)).toEqual([1739557572.3949368])
  })

  test('case 8: the three escapes of a label value are resolved', () => {
    const body = String.raw`${WAITING}{path="C:\\DIR\\FILE.TXT",error="Cannot find file:\n\"FILE.TXT\""} 1.458255915e9`
    expect(labels(body)).toEqual({ path: 'C:\\DIR\\FILE.TXT', error: 'Cannot find file:\n"FILE.TXT"' })
    expect(values(body)).toEqual([1458255915])
  })

  test('case 9: the value is what follows the labels, not the last number of the line', () => {
    const body = `${WAITING}{p="a"} 1027 1395066363000\n${WAITING}{p="x"} +Inf -3982045\n${WAITING}{p="0"} 7 -1\n${WAITING} 4424 \n`
    const samples = pageOf('vllm', body).samples.get(WAITING) ?? []
    expect(samples.map(({ value, stamp }) => [value, stamp])).toEqual([
      [1027, 1395066363000],
      [Number.POSITIVE_INFINITY, -3982045000],
      [7, -1000],
      [4424, undefined],
    ])
  })

  test('a timestamp may be in milliseconds or in the seconds of OpenMetrics', () => {
    const samples = pageOf('vllm', `${WAITING}{p="ms"} 1 1796040000000\n${WAITING}{p="s"} 1 1796040000.25\n`).samples
    expect(samples.get(WAITING)?.map(({ stamp }) => stamp)).toEqual([1796040000000, 1796040000250])
  })

  test('case 10: a carriage return before the line feed is no part of the value', () => {
    const body = `# TYPE a gauge\r\n${WAITING}{m="x"} 8192\r\n\r\n${WAITING}{m="y"} 1.5 1796040000000\r\nother{m="x"} 8192\r\nplain 3\r\n`
    expect(values(body)).toEqual([8192, 1.5])
    expect(countsOf(pageOf('vllm', body))).toEqual({ lines: 5, comments: 1, sampleCount: 4, malformed: 0 })
  })

  test('case 11: help text on a second line costs that line, and is counted', () => {
    const body = `# HELP ${WAITING} Broken count.\nBroken jobs occur when x\n# TYPE ${WAITING} gauge\n${WAITING} 1\n`
    expect(values(body)).toEqual([1])
    expect(pageOf('vllm', body).malformed).toBe(1)
  })

  test('case 12: an exemplar behind a value is not looked at, however odd', () => {
    const body = `${TTFT}_bucket{le="0.01"} 1 # {trace_id="abc"} 0.006\n${TTFT}_bucket{le="5000.0"} 3 1.697141781462e+09 #  5.9060365 1.6971417814410365e+09\n${WAITING} 4 # {} 1 nonsense\n`
    const page = pageOf('vllm', body)
    expect(page.buckets.get(`${TTFT}_bucket`)).toMatchObject([{ bounds: [0.01, 5000], counts: [1, 3] }])
    expect(values(body)).toEqual([4])
    expect(page.malformed).toBe(0)
  })

  test('case 13: OpenMetrics is read by the names of its samples and ends at its end', () => {
    const body = `# TYPE vllm:prefix_cache_hits counter\nvllm:prefix_cache_hits_total{model_name="m"} 3\nvllm:prefix_cache_hits_created{model_name="m"} 1.7e9\n# EOF\nvllm:prefix_cache_hits_total{model_name="n"} 9\n`
    expect(values(body, 'vllm:prefix_cache_hits_total')).toEqual([3])
    expect(values(body, 'vllm:prefix_cache_hits_created')).toEqual([1.7e9])
  })

  test('case 14: a family that comes twice keeps both its parts', () => {
    expect(
      values(
        `# TYPE a gauge\n${WAITING}{engine="0"} 1\n# TYPE b gauge\nb 1\n# TYPE a gauge\n${WAITING}{engine="1"} 5\n`,
      ),
    ).toEqual([1, 5])
  })

  test('one label set that comes twice, in whatever order and spelling, is one series: the last sample holds', () => {
    expect(
      values(`${WAITING}{a="1",b="2"} 1\n${WAITING}{ b = "2" , a="1" , } 5\n${WAITING}{b="2",c="",a="1"} 7\n`),
    ).toEqual([7])
  })

  test('case 15: any line that begins with # is at worst a comment', () => {
    const body = `# COMMENT TYPE h histogram\n#TYPE a gauge\n#\tTYPE b gauge\n#\n  # indented\n${WAITING} 1\n`
    expect(countsOf(pageOf('vllm', body))).toEqual({ lines: 6, comments: 5, sampleCount: 1, malformed: 0 })
  })

  test.each([
    `${WAITING}{model_name="m"}`,
    `${WAITING}{model_name="m"} `,
    `${WAITING}{ `,
    `${WAITING}{model_name="m`,
    `${WAITING}{model_name="m\\"} 5`,
    `${WAITING}{model_name="m"`,
    `${WAITING}{model_name} 5`,
    `${WAITING}{model_name=m} 5`,
    `${WAITING}{model_name="m" engine="0"} 5`,
    `${WAITING}{="m"} 5`,
    `${WAITING}{1a="m"} 5`,
    `${WAITING}{a:b="m"} 5`,
    `${WAITING}{a="1",a="2"} 5`,
    `${WAITING}{__proto__="1"} 5`,
    `${WAITING}`,
    `${WAITING} `,
    `${WAITING} # {} 1`,
    `${WAITING} 1 2 3`,
    `${WAITING} 1 now`,
    `${WAITING}\u00a01`,
    `${WAITING} 1\u00a0`,
    `${TTFT}_bucket 5`,
    `${TTFT}_bucket{le="abc"} 5`,
    `${TTFT}_bucket{le=""} 5`,
    `${TTFT}_bucket{le="1"}`,
    `{"my.metric"} 5`,
    '<html><body>502',
    'other{model_name="m"}',
    'other{model_name="m"} abc',
    'other 0x10',
  ])('case 16: a line without a name, whole labels or a value is malformed and is no sample: %s', (line) => {
    const page = pageOf('vllm', `${line}\n${WAITING}{ok="1"} 5\n`)
    expect(countsOf(page)).toEqual({ lines: 2, comments: 0, sampleCount: 1, malformed: 1 })
    expect(page.samples.get(WAITING)?.map(({ value }) => value)).toEqual([5])
    expect(page.buckets.size).toBe(0)
  })

  test.each([
    ['1.1701968896e+010', 11701968896],
    ['9.75e-06', 0.00000975],
    ['208.0', 208],
    ['+Inf', Number.POSITIVE_INFINITY],
    ['-Inf', Number.NEGATIVE_INFINITY],
    ['inf', Number.POSITIVE_INFINITY],
    ['NaN', Number.NaN],
    ['Nan', Number.NaN],
    ['+5', 5],
    ['-5', -5],
    ['.5', 0.5],
    ['5.', 5],
    ['1E3', 1000],
    ['00012', 12],
    ['9223372036854775794', 2 ** 63],
    ['34.156000', 34.156],
  ])('case 17: %s is %d', (text, value) => {
    expect(values(`${WAITING} ${text}\n`)).toEqual([value])
  })

  test.each([
    '0x1F',
    '12abc',
    '1_000',
    '1,5',
    '-nan(ind)',
    '--1',
    '1e',
    'e5',
    '.',
    '+',
    'Infinit',
    '1 000 x',
    'true',
    '１',
  ])('case 17: %s is no number', (text) => {
    expect(countsOf(pageOf('vllm', `${WAITING} ${text}\n`))).toMatchObject({ sampleCount: 0, malformed: 1 })
  })

  test('case 18: a colon belongs to a name', () => {
    expect(countsOf(pageOf('vllm', 'deployment:nodes_up::sum{app="x",instance=""} 12 1494256282841\n'))).toMatchObject({
      sampleCount: 1,
      malformed: 0,
    })
    expect(values(`${WAITING}{app="x"} 12\n`)).toEqual([12])
  })

  test('blanks and tabs between the parts, and before the name, are legal', () => {
    expect(
      values(`  \t${WAITING} \t{ a = "1" ,\tb\t=\t"2" }\t 5 \t\n${WAITING}{a="2", b="2"} 6\n${WAITING}\t7\n`),
    ).toEqual([5, 6, 7])
  })

  test('a value may hold everything that elsewhere has a meaning', () => {
    expect(labels(`${WAITING}{a="} 9 # {,=le=\\"1\\"",b="/v1/{x}, 'y'"} 5\n`)).toEqual({
      a: '} 9 # {,=le="1"',
      b: "/v1/{x}, 'y'",
    })
  })

  test('labels are UTF-8, whole or torn between two chunks', () => {
    const body = Buffer.from(`${WAITING}{model_name="модель-é-🐌"} 5\n`)
    for (let cut = 0; cut <= body.length; cut++) {
      const reader = createPageReader(TABLES.vllm)
      reader.push(body.subarray(0, cut))
      reader.push(body.subarray(cut))
      expect(reader.end().samples.get(WAITING)?.[0]?.labels.values).toEqual({ model_name: 'модель-é-🐌' })
    }
  })

  test('a byte order mark is no part of the first name', () => {
    expect(values(`\ufeff${WAITING} 5\n`)).toEqual([5])
    expect(pageOf('vllm', `\ufeff# HELP x y\n${WAITING} 5\n`)).toMatchObject({ comments: 1, malformed: 0 })
  })

  test('the last line counts without a line feed', () => {
    expect(values(`${WAITING}{a="1"} 1\n${WAITING}{a="2"} 25`)).toEqual([1, 25])
  })

  test('a label set named like a property of every object is an ordinary one', () => {
    expect(labels(`${WAITING}{constructor="x",toString="y"} 5\n`)).toEqual({ constructor: 'x', toString: 'y' })
  })
})

describe('histograms', () => {
  test('cases 1 and 2: every label set keeps its buckets, sum and count', () => {
    const lines = (m: string, [a, b, sum]: number[]) =>
      `${TTFT}_bucket{m="${m}",le="1"} ${a}\n${TTFT}_bucket{m="${m}",le="+Inf"} ${b}\n${TTFT}_sum{m="${m}"} ${sum}\n${TTFT}_count{m="${m}"} ${b}\n`
    const page = pageOf('vllm', `# TYPE ${TTFT} histogram\n${lines('A', [3, 4, 5])}${lines('B', [7, 9, 11])}`)
    expect(page.buckets.get(`${TTFT}_bucket`)).toMatchObject([
      { labels: { set: 'm="A"' }, bounds: [1, Number.POSITIVE_INFINITY], counts: [3, 4] },
      { labels: { set: 'm="B"' }, bounds: [1, Number.POSITIVE_INFINITY], counts: [7, 9] },
    ])
    expect(page.samples.get(`${TTFT}_sum`)?.map(({ value }) => value)).toEqual([5, 11])
  })

  test('le may stand anywhere in the label block, and blocks may alternate line by line', () => {
    const page = pageOf(
      'vllm',
      `${TTFT}_bucket{le="1",m="A"} 1\n${TTFT}_bucket{m="B",le="1",z="q"} 2\n${TTFT}_bucket{le="2",m="A"} 3\n${TTFT}_bucket{z="q",m="B",le="2"} 4\n${TTFT}_bucket{m="A",le="+Inf"} 5\n`,
    )
    expect(page.buckets.get(`${TTFT}_bucket`)).toMatchObject([
      { labels: { set: 'm="A"' }, bounds: [1, 2, Number.POSITIVE_INFINITY], counts: [1, 3, 5] },
      { labels: { set: 'm="B",z="q"' }, bounds: [1, 2], counts: [2, 4] },
    ])
  })

  test('a label value that looks like the end of le does not move it', () => {
    const page = pageOf(
      'vllm',
      `${TTFT}_bucket{a="x",le="1",b="y"} 1\n${TTFT}_bucket{a="x",le="2\\",b="y"} 2\n${TTFT}_bucket{a="x",le="3",b="y"} 3\n`,
    )
    expect(page.buckets.get(`${TTFT}_bucket`)).toMatchObject([{ bounds: [1, 3], counts: [1, 3] }])
    expect(page.malformed).toBe(1)
  })
})

describe('what is kept', () => {
  test('case 41: a name that only begins like a wanted one is another name', () => {
    const body = `${WAITING}{engine="0"} 6.0\n${WAITING}_by_reason{engine="0",reason="capacity"} 6.0\n${WAITING}{engine="1"} 1.0\n`
    expect(values(body)).toEqual([6, 1])
  })

  test('a bucket under the name of a gauge is a sample, and not the gauge', () => {
    expect(pageOf('vllm', `${WAITING}{le="1"} 5\n`)).toMatchObject({ sampleCount: 1, malformed: 0 })
    expect(values(`${WAITING}{le="1"} 5\n${WAITING} 3\n`)).toEqual([3])
  })

  test('case 21: 60,000 unwanted series of one family leave no trace but their number', () => {
    const unwanted = Array.from(
      { length: 60_000 },
      (_, i) => `litellm_requests_total{key="k${i}",user="u${i}"} ${i}\n`,
    ).join('')
    const page = pageOf('vllm', `${unwanted}${WAITING} 5\n`)
    expect(page).toMatchObject({ sampleCount: 60_001, malformed: 0 })
    expect([...page.samples.keys()]).toEqual([WAITING])
    expect(page.labelSets).toHaveLength(1)
  })

  test('a line beyond the limit is malformed and costs only itself', () => {
    const long = `${WAITING}{a="${'x'.repeat(MAX_LINE)}"} 1`
    for (const body of [`${long}\n${WAITING} 5\n`, `${WAITING} 5\n${long}`]) {
      const reader = createPageReader(TABLES.vllm)
      for (let at = 0; at < body.length; at += 10_000) reader.push(Buffer.from(body.slice(at, at + 10_000)))
      for (const page of [reader.end(), pageOf('vllm', body)]) {
        expect(page).toMatchObject({ sampleCount: 1, malformed: 1 })
        expect(page.samples.get(WAITING)?.map(({ value }) => value)).toEqual([5])
      }
    }
  })

  test('a name with more label sets than can be judged is told apart', () => {
    const body = Array.from({ length: MAX_LABEL_SETS + 1 }, (_, i) => `${WAITING}{engine="${i}"} 1\n`).join('')
    const page = pageOf('vllm', body)
    expect([...page.incomplete]).toEqual([WAITING])
    expect(page.samples.get(WAITING)).toHaveLength(MAX_LABEL_SETS)
  })

  test.each([
    ['', undefined, 0],
    ['\n\n  \n', undefined, 0],
    ['  <html>', 0x3c, 1],
    ['{"error":"no"}', 0x7b, 1],
    ['Ollama is running', 0x4f, 1],
  ])('a body that is no exposition can be told by its first byte and its counts: %j', (body, firstByte, malformed) => {
    expect(pageOf('vllm', body)).toMatchObject({ firstByte, malformed, lines: malformed, sampleCount: 0 })
  })
})

test('case 223: 17,700 paths of a scanner as labels, with all that a label may hold, and the numbers are right', () => {
  const odd = [
    '\u0024{jndi:ldap://x}',
    '../../etc/passwd',
    'a\\"b',
    '{c="d"}',
    '\\"} 99',
    'le=\\"+Inf\\"} 99',
    '\u0000',
    '\t',
    '🐌',
    '\\\\',
    '\\n',
  ]
  const path = (i: number) => `/${i}/${odd[i % odd.length]}`
  const counters = Array.from({ length: 17_700 }, (_, i) => `sglang:http_requests_total{path="${path(i)}"} ${i}\n`)
  const buckets = Array.from(
    { length: 9_000 },
    (_, i) => `sglang:http_request_duration_seconds_bucket{path="${path(i)}",le="${i % 2 === 0 ? '1' : '+Inf'}"} 3\n`,
  )
  const labels = '{model_name="m"}'
  const own = `sglang:num_queue_reqs${labels} 30\nsglang:num_running_reqs${labels} 4\nsglang:token_usage${labels} 0.5\n`
  const body = `${counters.join('')}${buckets.join('')}${own}`
  expect(Buffer.byteLength(body)).toBeGreaterThan(1_500_000)
  const { gauges, malformed } = readingsOf('sglang', body)
  expect(gauges).toMatchObject({ waiting: { value: 30 }, running: { value: 4 }, kv_cache: { value: 0.5 } })
  expect(malformed).toBe(0)
})
