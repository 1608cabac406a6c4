/** A push as text, before it becomes a request. At most 4,096 bytes of UTF-8. */
export interface Message {
  /** One line, at most 80 characters. */
  title: string
  /** Never empty. */
  body: string
  /** 0…10. */
  priority: number
  /** Opened by a tap on the message. */
  link?: string
  markdown?: boolean
  /** Beside it, as buttons where a channel has them, the first one first. They carry a token: not for the log. */
  links?: { label: string; url: string }[]
  /** What one tap does where a channel can send a form itself: POST `body` to `url`. It carries a token: not for the log. */
  press?: { label: string; url: string; body: string }
  /** Address of a PNG, twice as wide as high, that shows it. It carries a token: not for the log. */
  picture?: string
}
