/** What a step yields, or why it yields nothing: each under names of its own, told apart by `ok`. */
export type Fallible<T, F> = ({ ok: true } & T) | ({ ok: false } & F)
