import { namedListOf } from './named-list.ts'

/** A place that notifications go to, as it stands in the settings. */
export type Target = {
  readonly name: string
  readonly kind: 'webhook' | 'ntfy' | 'slack' | 'mail'
  readonly url: string
  readonly secretFile: string | null
  /** Set for mail. */
  readonly mail?: MailTarget
  readonly events: readonly TargetEvent[]
}
export type MailTarget = {
  readonly from: string
  readonly to: readonly string[]
  /** User name, with the secret as password; null where none is needed. */
  readonly user: string | null
}
type TargetEvent =
  | 'approval.pending'
  | 'approval.resolved'
  | 'question.pending'
  | 'alert.raised'
  | 'capability.notified'

const kinds = ['webhook', 'ntfy', 'slack', 'mail'] as const
const keys = ['name', 'kind', 'url', 'secret_file', 'events']
const mailKeys = ['from', 'to', 'user']
const recipientsMax = 20
const address = /^[^\s<>,;:"@]{1,64}@[^\s<>,;:"@]{1,255}$/
const allEvents: readonly TargetEvent[] = [
  'approval.pending',
  'approval.resolved',
  'question.pending',
  'alert.raised',
  'capability.notified',
]
/** Writes inside a workspace are of the last kind by default: whoever wants all of those says so. */
const usualEvents = allEvents.slice(0, 4)
const targetsMax = 50

type Refuse = (detail: string) => never

const urlOf = (raw: unknown, kind: Target['kind'], refuse: Refuse): string => {
  let url: URL
  try {
    url = new URL(typeof raw === 'string' ? raw : '')
  } catch {
    return refuse(
      kind === 'mail'
        ? 'url must be a mail server such as smtps://mail.example or smtp://mail.example:587'
        : 'url must be an address such as https://hooks.example/abc',
    )
  }
  if (kind === 'mail') return mailServerOf(url, refuse)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return refuse('url must begin with https:// or http://')
  if (url.username !== '' || url.password !== '')
    return refuse('url must not hold a name or a password; put a secret into secret_file')
  if (kind === 'ntfy' && !/^.*\/[A-Za-z0-9_-]{1,64}$/.test(url.pathname))
    return refuse('url must end with the topic, as in https://ntfy.example/my-topic')
  return url.href
}

const mailServerOf = (url: URL, refuse: Refuse): string => {
  if (url.protocol !== 'smtp:' && url.protocol !== 'smtps:')
    return refuse('url must begin with smtps:// or smtp://')
  if (url.hostname === '' || url.pathname.length > 1 || url.search !== '')
    return refuse('url must be scheme, host and port alone, as in smtp://mail.example:587')
  if (url.username !== '' || url.password !== '')
    return refuse('url must not hold a name or a password; put them into user and secret_file')
  return url.href
}

const mailOf = (given: Readonly<Record<string, unknown>>, refuse: Refuse): MailTarget => {
  const { from, to, user = null, secret_file = null } = given
  const isAddress = (one: unknown): one is string => typeof one === 'string' && address.test(one)
  if (!isAddress(from)) return refuse('from must be a mail address such as gatehouse@mail.example')
  const all = Array.isArray(to) ? to : [to]
  if (all.length === 0 || all.length > recipientsMax || !all.every(isAddress))
    return refuse(`to must be a mail address, or a list of at most ${recipientsMax}`)
  if (user !== null && (typeof user !== 'string' || user === ''))
    return refuse('user must be the name to log in with')
  if ((user === null) !== (secret_file === null))
    return refuse('user and secret_file stand together: the secret is the password')
  return { from, to: all, user }
}

const secretFileOf = (raw: unknown, kind: Target['kind'], refuse: Refuse): string | null => {
  if (raw === null) return null
  if (typeof raw !== 'string' || raw === '') return refuse('secret_file must be the name of a file')
  if (kind === 'slack') return refuse('secret_file is of no use to slack, whose url is the secret')
  return raw
}

const targetOf = (raw: unknown, refuse: Refuse): Target => {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    return refuse('must be a map with name, kind and url')
  const given = raw as Record<string, unknown>
  const known = given['kind'] === 'mail' ? [...keys, ...mailKeys] : keys
  const stranger = Object.keys(given).find((key) => !known.includes(key))
  if (stranger !== undefined) return refuse(`has no key ${stranger}; it knows ${known.join(', ')}`)
  const { name, secret_file = null, events = usualEvents } = given
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name))
    return refuse('name must be up to 64 of a-z, 0-9, - and _')
  const kind = kinds.find((one) => one === given['kind'])
  if (!kind) return refuse(`kind must be one of ${kinds.join(', ')}`)
  const url = urlOf(given['url'], kind, refuse)
  const secretFile = secretFileOf(secret_file, kind, refuse)
  const isEvent = (one: unknown): one is TargetEvent => allEvents.some((event) => event === one)
  if (!Array.isArray(events) || events.length === 0 || !events.every(isEvent))
    return refuse(`events must be a list of ${allEvents.join(', ')}`)
  const target = { name, kind, url, secretFile, events: [...new Set(events)] }
  return kind === 'mail' ? { ...target, mail: mailOf(given, refuse) } : target
}

/** Every place, or a refusal that names the field. */
export const targetsOf = (raw: unknown, refuse: Refuse): readonly Target[] =>
  namedListOf(raw, targetsMax, targetOf, refuse)
