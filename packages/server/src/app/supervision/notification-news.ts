import type { NotificationEvent, Question } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredAlert } from '../../ports/alerts.ts'
import type { StoredApproval } from '../../ports/approvals.ts'

/** Message as it is stored until it is sent. */
export type News = {
  readonly event: NotificationEvent
  readonly title: string
  readonly text: string
  readonly urgent: boolean
  /** Where the page about it stands, after `#`. */
  readonly path: string
  readonly data: Readonly<Record<string, unknown>>
}
type Told = Omit<News, 'event'>

const textMax = 500
// Characters that could hide or turn around the text beside them on somebody's screen.
const unseen = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu

const plain = (text: string): string => {
  const shown = text.replaceAll(unseen, ' ').trim()
  return shown.length > textMax ? `${shown.slice(0, textMax)}…` : shown
}

const objectOf = (capability: string, argumentsJson: string): string =>
  describeCall(capability, parseStored(argumentsJson, 'approvals.arguments_json'))

/**
 * Whether a person is asked, or what became of it. @SECURITY Of the arguments only the line that says what a
 * call is about leaves the machine, never contents or credentials; notifications.test.ts.
 */
export const approvalNews = (approval: StoredApproval): Told => {
  const { id, agent, capability, status, reason, critical, decided_by, expires_wall_ms } = approval
  const pending = status === 'pending'
  const by = decided_by === null ? '' : ` by ${decided_by}`
  const until = new Date(expires_wall_ms).toISOString()
  const object = objectOf(capability, approval.arguments_json)
  const what = `${capability} ${object}`.trimEnd()
  return {
    title: plain(pending ? `${agent} asks for ${what}` : `${what} of ${agent}: ${status}`),
    text: plain(
      pending
        ? `${reason === null ? '' : `${reason}. `}Decide before ${until}.`
        : `The request is ${status}${by}.`,
    ),
    urgent: pending,
    path: `approvals/${id}`,
    data: { approval_id: id, agent, capability, object, status, critical, decided_by },
  }
}

/** The text of a question stays on the machine: it is the server's own words, and may hold anything. */
export const questionNews = ({
  id,
  upstream,
  agent,
  capability,
  kind,
  expires_at,
}: Question): Told => ({
  title: plain(`${upstream} asks a person, for ${agent}`),
  text: plain(`A call of ${capability} waits for the answer, until ${expires_at}.`),
  urgent: true,
  path: `questions/${id}`,
  data: { question_id: id, upstream, agent, capability, kind },
})

export const alertNews = ({ id, source, severity, message }: StoredAlert): Told => ({
  title: plain(`${severity}: ${source}`),
  text: plain(message),
  urgent: severity !== 'info',
  path: `alerts/${id}`,
  data: { alert_id: id, source, severity, message: plain(message) },
})

export type CallFacts = {
  readonly agent: string
  readonly capability: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly request_id: string
}

export const callNews = ({ agent, capability, request_id, arguments: args }: CallFacts): Told => {
  const object = describeCall(capability, args)
  return {
    title: plain(`${agent} calls ${capability} ${object}`),
    text: '',
    urgent: false,
    path: `activity/${request_id}`,
    data: { agent, capability, object, request_id },
  }
}
