/** What a step yields, under names of its own, or why it yields nothing: in words, unless a failure of another form is named. */
export type Fallible<T, F = { why: string }> = ({ ok: true } & T) | Failed<F>

export type Failed<F = { why: string }> = { ok: false } & F
