import type { NotificationEvent } from '@gatehouse/contract'
import type { StoredAlert } from '../ports/alerts.ts'
import type { StoredApproval } from '../ports/approvals.ts'

/** What is stored of a message until it is sent. */
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
// What could hide or turn around the text beside it on somebody's screen.
const unseen = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu

const plain = (text: string): string => {
  const shown = text.replaceAll(unseen, ' ').trim()
  return shown.length > textMax ? `${shown.slice(0, textMax)}…` : shown
}

/**
 * Whether a person is asked, or what became of it. @SECURITY Arguments stay here: they may hold what must not
 * leave the machine, and whoever decides reads them on the page; notifications.test.ts.
 */
export const approvalNews = (approval: StoredApproval): Told => {
  const { id, agent, capability, status, reason, critical, decided_by, expires_wall_ms } = approval
  const pending = status === 'pending'
  const by = decided_by === null ? '' : ` by ${decided_by}`
  const until = new Date(expires_wall_ms).toISOString()
  return {
    title: plain(
      pending ? `${agent} asks for ${capability}` : `${capability} of ${agent}: ${status}`,
    ),
    text: plain(
      pending
        ? `${reason === null ? '' : `${reason}. `}Decide before ${until}.`
        : `The request is ${status}${by}.`,
    ),
    urgent: pending,
    path: `approvals/${id}`,
    data: { approval_id: id, agent, capability, status, critical, decided_by },
  }
}

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
  readonly request_id: string
}

export const callNews = (facts: CallFacts): Told => ({
  title: plain(`${facts.agent} calls ${facts.capability}`),
  text: '',
  urgent: false,
  path: `activity/${facts.request_id}`,
  data: facts,
})
