import type { Approval } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { approvalsText as text } from '../../messages/approvals.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Facts } from '../../ui/page.tsx'
import { Countdown, Time } from '../../ui/time.tsx'
import { hasHidden, mixedWordsIn, Visible } from '../../ui/visible.tsx'
import { Consequences } from './consequences.tsx'
import { Earlier } from './earlier.tsx'
import { Arguments, PreviewView } from './preview.tsx'

/** Everything of a request that a person reads before a decision. */
const allTextOf = ({ preview, effective_arguments, agent_reason }: Approval): string =>
  [JSON.stringify(effective_arguments), JSON.stringify(preview), agent_reason ?? ''].join('\n')

const unescaped = (value: string): string =>
  value.replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )

const Warnings = ({ approval }: { readonly approval: Approval }) => {
  const all = unescaped(
    allTextOf(approval).replaceAll('\\n', ' ').replaceAll('\\t', ' ').replaceAll('\\r', ' '),
  )
  const mixed = mixedWordsIn(all)
  return (
    <>
      {approval.stale !== null && (
        <Notice tone="warn" role="status">
          <Visible text={text.stale(approval.stale)} />
        </Notice>
      )}
      {mixed.length > 0 && (
        <Notice tone="warn">
          <Visible text={text.mixed(mixed.slice(0, 5).join(', '))} />
        </Notice>
      )}
      {hasHidden(all) && <Notice tone="warn">{text.hiddenCharacters}</Notice>}
      {approval.critical && approval.status === 'pending' && <Notice>{text.criticalNote}</Notice>}
    </>
  )
}

/** Heading of a request: who asks for what, and its object. */
export const Heading = ({ approval }: { readonly approval: Approval }) => (
  <header className="min-w-0 grow">
    <h2 className="text-[1.067rem] leading-snug [overflow-wrap:anywhere]">
      <Link
        to="/approvals/$id"
        params={{ id: approval.id }}
        className="no-underline hover:underline"
      >
        <strong>
          <Visible text={approval.agent} />
        </strong>{' '}
        <span className="text-ink-soft">{text.asks}</span>{' '}
        <strong>
          <Visible text={approval.capability} />
        </strong>
      </Link>
    </h2>
    <p className="mono mt-0.5 [overflow-wrap:anywhere]">
      <Visible text={describeCall(approval.capability, approval.effective_arguments)} />
    </p>
  </header>
)

/** A request as it is read: who, what, why, and what happens when it runs. */
export const RequestView = ({
  approval,
  aside,
}: {
  readonly approval: Approval
  /** Beside the heading: how many, a choice. */
  readonly aside?: ReactNode
}) => {
  const { rule, reason, agent_reason, preview, requested_at, expires_at, status, id } = approval
  return (
    <div className="grid min-w-0 gap-3">
      <div className="flex items-start gap-2">
        <Heading approval={approval} />
        {approval.critical && (
          <Badge tone="bad" icon="warning">
            {text.critical}
          </Badge>
        )}
        {aside}
      </div>
      <Warnings approval={approval} />
      <Consequences approval={approval} />
      {preview !== null && <PreviewView preview={preview} />}
      <Earlier approval={approval} />
      <Facts
        items={[
          [
            text.whyAsks,
            <span key="why">
              <Visible text={reason ?? text.policyAsks} />
              {rule && (
                <span className="mono text-ink-soft">
                  {' '}
                  (<Visible text={`${rule.file}:${rule.line}`} />)
                </span>
              )}
            </span>,
          ],
          ...(agent_reason === null
            ? []
            : ([
                [
                  text.agentSays,
                  <span key="says" title={text.agentSaysNote}>
                    “<Visible text={agent_reason} />”{' '}
                    <span className="text-ink-soft">{text.agentSaysNote}</span>
                  </span>,
                ],
              ] as const)),
          [
            text.askedAt,
            <span key="asked">
              <Time at={requested_at} />
              {status === 'pending' && (
                <>
                  {' · '}
                  {text.left} <Countdown until={expires_at} over={text.expired} />
                </>
              )}
              <span className="mono text-ink-soft"> · {id}</span>
            </span>,
          ],
        ]}
      />
      <Arguments approval={approval} />
    </div>
  )
}
