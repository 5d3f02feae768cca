import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { SmtpFaults, SmtpStep } from './smtp-faults.ts'

export type Delivery = {
  /** With its angle brackets; of a message without one, its hash. */
  readonly message_id: string
  readonly from: string
  readonly to: readonly string[]
  readonly user: string | null
  readonly secure: boolean
  /** After the dots were taken off. */
  readonly raw: Buffer
  /** Whether a CR or LF stood alone on the wire. */
  readonly bareLineEnds: boolean
}

type Setting = {
  readonly users?: Readonly<Record<string, string>>
  readonly tls?: { readonly cert: string; readonly key: string; readonly implicit?: boolean }
  readonly tlsRequired?: boolean
  readonly lenient?: boolean
  readonly sizeMax?: number
  readonly unknown?: readonly string[]
  readonly answersAfterMs?: number
  readonly faults: SmtpFaults
  readonly heard: (line: string) => void
  readonly took: (delivery: Delivery) => void
}

const messageIdOf = (raw: Buffer): string => {
  const head = raw.toString('latin1').split('\r\n\r\n')[0] ?? ''
  return (
    /^message-id:\s*(<[^>]+>)/im.exec(head)?.[1] ?? createHash('sha256').update(raw).digest('hex')
  )
}

/** One connection: commands line by line, then a message up to its lone dot. */
export class SmtpConversation {
  #socket: Socket
  readonly #setting: Setting
  #buffer: Buffer = Buffer.alloc(0)
  #inData = false
  #from: string | null = null
  #to: string[] = []
  #user: string | null = null
  #secure: boolean
  #over = false

  constructor(socket: Socket, setting: Setting) {
    this.#socket = socket
    this.#setting = setting
    this.#secure = setting.tls?.implicit === true
  }

  begin(): void {
    this.#listen()
    this.#answer('greeting', '220 test.example ESMTP')
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#buffer = Buffer.concat([this.#buffer, bytes])
    this.#work()
  }

  #listen(): void {
    this.#socket.on('data', this.#onData)
    this.#socket.on('error', () => {})
  }

  #say(line: string): void {
    if (!this.#over && this.#socket.writable) this.#socket.write(`${line}\r\n`)
  }

  /** Says a line, unless this step is to fail: then it does that, and answers false. */
  #answer(at: SmtpStep, line: string): boolean {
    const how = this.#setting.faults.strike(at)
    if (how === null) {
      this.#say(line)
      return true
    }
    if (typeof how === 'number') this.#say(`${how} told to fail at ${at}`)
    else if (how === 'garbage') this.#say('\u0000\u0001 what? \u001b[31m')
    else {
      this.#over = true
      if (how === 'drop') this.#socket.destroy()
    }
    return false
  }

  #work(): void {
    while (!this.#over) {
      if (this.#inData) {
        if (!this.#readMessage()) return
        continue
      }
      const end = this.#buffer.indexOf('\r\n')
      if (end < 0) return
      const line = this.#buffer.subarray(0, end).toString('utf8')
      this.#buffer = this.#buffer.subarray(end + 2)
      this.#command(line)
    }
  }

  #command(line: string): void {
    const [word = '', ...rest] = line.split(' ')
    const verb = word.toUpperCase()
    const argument = rest.join(' ')
    this.#setting.heard(verb === 'AUTH' ? `AUTH ${rest[0] ?? ''}` : line)
    if (verb === 'EHLO' || verb === 'HELO') return this.#hello()
    if (verb === 'STARTTLS') return this.#startTls()
    if (verb === 'AUTH') return this.#login(rest)
    if (verb === 'MAIL') return this.#mail(argument)
    if (verb === 'RCPT') return this.#recipient(argument)
    if (verb === 'DATA') return this.#data()
    if (verb === 'RSET') {
      this.#reset()
      return this.#say('250 reset')
    }
    if (verb === 'NOOP') return this.#say('250 fine')
    if (verb === 'QUIT') {
      this.#say('221 bye')
      return void this.#socket.end()
    }
    this.#say('500 what?')
  }

  #hello(): void {
    const offers = [
      'test.example',
      '8BITMIME',
      'SMTPUTF8',
      ...(this.#setting.sizeMax ? [`SIZE ${this.#setting.sizeMax}`] : []),
      ...(this.#setting.tls && !this.#secure ? ['STARTTLS'] : []),
      ...(this.#mayLogin() ? ['AUTH PLAIN LOGIN'] : []),
    ]
    const lines = offers.map((offer, at) => `250${at === offers.length - 1 ? ' ' : '-'}${offer}`)
    this.#answer('ehlo', lines.join('\r\n'))
  }

  #mayLogin(): boolean {
    const { users, tlsRequired } = this.#setting
    return Object.keys(users ?? {}).length > 0 && (!tlsRequired || this.#secure)
  }

  #startTls(): void {
    const { tls } = this.#setting
    if (!tls || this.#secure) return this.#say('503 no')
    if (!this.#answer('starttls', '220 go ahead')) return
    this.#socket.off('data', this.#onData)
    const secureContext = createSecureContext({ cert: tls.cert, key: tls.key })
    this.#socket = new TLSSocket(this.#socket, { isServer: true, secureContext })
    this.#secure = true
    this.#buffer = Buffer.alloc(0)
    this.#listen()
  }

  #login([method, response]: string[]): void {
    if (!this.#mayLogin() || method?.toUpperCase() !== 'PLAIN' || response === undefined)
      return this.#say('504 only AUTH PLAIN with its response')
    const [, user = '', password] = Buffer.from(response, 'base64').toString('utf8').split('\0')
    if (this.#setting.users?.[user] !== password)
      return this.#say('535 5.7.8 wrong user or password')
    if (this.#answer('auth', '235 welcome')) this.#user = user
  }

  #mail(argument: string): void {
    if (this.#setting.tlsRequired && !this.#secure) return this.#say('530 5.7.0 STARTTLS first')
    if (this.#mayLogin() && this.#user === null) return this.#say('530 5.7.0 log in first')
    const address = /^FROM:<([^>]*)>/i.exec(argument)?.[1]
    if (address === undefined) return this.#say('501 whose?')
    if (!this.#answer('mail', '250 sender ok')) return
    this.#reset()
    this.#from = address
  }

  #recipient(argument: string): void {
    const address = /^TO:<([^>]+)>/i.exec(argument)?.[1]
    if (this.#from === null || !address) return this.#say('503 no')
    if (this.#setting.unknown?.includes(address)) return this.#say('550 5.1.1 nobody of that name')
    if (this.#answer('rcpt', '250 recipient ok')) this.#to.push(address)
  }

  #data(): void {
    if (this.#to.length === 0) return this.#say('503 to whom?')
    this.#inData = this.#answer('data', '354 end with a dot')
  }

  /** True once a whole message was taken out of the buffer. */
  #readMessage(): boolean {
    if (this.#buffer.length > 0 && this.#breaksIn()) return false
    const wire = this.#cutMessage()
    if (wire === null) return false
    this.#inData = false
    const refused = this.#setting.faults.strike('body')
    if (typeof refused === 'number') {
      this.#say(`${refused} told to fail at body`)
      return true
    }
    this.#setting.took(this.#deliveryOf(wire))
    this.#reset()
    const { answersAfterMs = 0 } = this.#setting
    if (answersAfterMs > 0)
      setTimeout(() => this.#answer('accepted', '250 2.0.0 taken'), answersAfterMs)
    else this.#answer('accepted', '250 2.0.0 taken')
    return true
  }

  /** Message before the lone dot, taken out of the buffer; null while it is not there. */
  #cutMessage(): string | null {
    if (this.#buffer.subarray(0, 3).equals(Buffer.from('.\r\n'))) {
      this.#buffer = this.#buffer.subarray(3)
      return ''
    }
    const ends = ['\r\n.\r\n', ...(this.#setting.lenient ? ['\n.\n', '\r.\r', '\n.\r\n'] : [])]
    const first = ends
      .map((end) => ({ at: this.#buffer.indexOf(end), length: end.length }))
      .filter(({ at }) => at >= 0)
      .toSorted((a, b) => a.at - b.at)[0]
    if (!first) return null
    const wire = this.#buffer.subarray(0, first.at + 2).toString('latin1')
    this.#buffer = this.#buffer.subarray(first.at + first.length)
    return wire
  }

  #deliveryOf(wire: string): Delivery {
    const raw = Buffer.from(wire.replace(/(^|\r\n)\.\./g, '$1.'), 'latin1')
    return {
      message_id: messageIdOf(raw),
      from: this.#from ?? '',
      to: [...this.#to],
      user: this.#user,
      secure: this.#secure,
      raw,
      bareLineEnds: /\r(?!\n)|(?<!\r)\n/.test(wire),
    }
  }

  /** A fault in the middle of a message, as soon as its first bytes are here. */
  #breaksIn(): boolean {
    const { faults } = this.#setting
    const how = faults.peek('body')
    if (how === null || typeof how === 'number') return false
    faults.strike('body')
    if (how === 'garbage') return false
    this.#over = true
    if (how === 'drop') this.#socket.destroy()
    return true
  }

  #reset(): void {
    this.#from = null
    this.#to = []
  }
}
