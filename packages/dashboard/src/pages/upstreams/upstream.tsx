import type { PolicyTier, Upstream, UpstreamReview } from '@gatehouse/contract'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { upstreamsText as text } from '../../messages/upstreams.ts'
import { useMay } from '../../session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { ConfirmName } from '../../ui/dialog.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Failure, Notice } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Facts, Page, Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { type Act, useAct } from '../../ui/use-act.ts'
import { Visible } from '../../ui/visible.tsx'
import { LoginDialog } from './login-dialog.tsx'
import { RulesDialog } from './rules-dialog.tsx'
import { serverText, UpstreamStatusBadge } from './status.tsx'
import { needsReview, ToolCard } from './tool-card.tsx'

const refresh = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [name] }) => name === 'showUpstream' || name === 'listUpstreams',
  })

const listText = (items: readonly string[]): string => items.join(', ') || common.none

const UpstreamFacts = ({
  upstream,
  refused,
}: {
  readonly upstream: Upstream
  readonly refused: readonly string[]
}) => {
  const { grants, identity, login } = upstream
  return (
    <div className="card p-4">
      <Facts
        items={[
          [
            text.server,
            <span key="server" className="mono">
              <Visible text={serverText(upstream)} />
            </span>,
          ],
          ...(identity === null
            ? []
            : [
                [
                  text.identity,
                  <Visible
                    key="identity"
                    text={`${identity.name} ${identity.version} (${identity.protocol})`}
                  />,
                ] as const,
              ]),
          [text.shares, upstream.per_agent ? text.perAgent : text.shared],
          [text.connections, numberText(upstream.connections)],
          ...(upstream.server.kind === 'stdio'
            ? ([
                [
                  text.folders,
                  listText(
                    grants.folders.map(({ path, read_only }) => (read_only ? path : `rw ${path}`)),
                  ),
                ],
                [text.hosts, listText(grants.hosts)],
                [text.environment, listText(Object.keys(grants.environment))],
              ] as const)
            : []),
          [
            text.credentials,
            listText(
              Object.entries(upstream.credentials).map(
                ([name, { secret }]) => `${name} (${secret})`,
              ),
            ),
          ],
          ...(login === null
            ? []
            : [[text.login, <Visible key="login" text={login.issuer} />] as const]),
          ...(refused.length === 0
            ? []
            : [[text.hostsRefused, <Visible key="hosts" text={refused.join(', ')} />] as const]),
          [text.added, <Time key="added" at={upstream.added_at} />],
          [
            text.seen,
            upstream.seen_at === null ? common.never : <Time key="seen" at={upstream.seen_at} />,
          ],
        ]}
      />
    </div>
  )
}

type Opened = 'login' | 'remove' | { readonly rules: string }

const Actions = ({ upstream, act }: { readonly upstream: Upstream; readonly act: Act }) => {
  const { name } = upstream
  const navigate = useNavigate()
  const [open, setOpen] = useState<Opened | null>(null)
  const close = () => setOpen(null)
  const then = (work: () => Promise<unknown>, said: string) => () =>
    void act.run(async () => {
      await work()
      await refresh()
      announce(said)
    })
  const showRules = () =>
    void act.run(async () => setOpen({ rules: (await api.suggestUpstreamRules({ name })).policy }))
  const loggedIn = async () => {
    await refresh()
    announce(text.loggedIn(name))
    close()
  }
  const remove = async () => {
    await api.removeUpstream({ name })
    announce(text.removed(name))
    await navigate({ to: '/upstreams' })
    await refresh()
  }
  return (
    <>
      <Button busy={act.busy} onClick={then(() => api.refreshUpstream({ name }), text.refreshed)}>
        {text.refresh}
      </Button>
      {upstream.status === 'needs_login' && (
        <Button tone="primary" onClick={() => setOpen('login')}>
          {text.logIn}
        </Button>
      )}
      <Menu
        trigger={
          <Button icon="more" aria-label={`${common.actions}: ${name}`}>
            <span className="sm:sr-only">{common.actions}</span>
          </Button>
        }
        items={[
          {
            text: text.restart,
            onSelect: then(() => api.restartUpstream({ name }), text.restarted),
          },
          { text: text.rules, onSelect: showRules },
          ...(upstream.server.kind === 'http'
            ? [
                { text: text.logIn, onSelect: () => setOpen('login') },
                ...(upstream.login
                  ? [
                      {
                        text: text.logOut,
                        onSelect: then(() => api.logoutUpstream({ name }), text.loggedOut),
                      },
                    ]
                  : []),
              ]
            : []),
          { text: text.remove, danger: true, onSelect: () => setOpen('remove') },
        ]}
      />
      {open === 'login' && <LoginDialog name={name} onDone={loggedIn} onClose={close} />}
      {open === 'remove' && (
        <ConfirmName
          title={text.removeTitle(name)}
          name={name}
          submit={text.remove}
          onConfirm={remove}
          onClose={close}
        >
          {text.removeIntro}
        </ConfirmName>
      )}
      {open !== null && typeof open === 'object' && (
        <RulesDialog policy={open.rules} onClose={close} />
      )}
    </>
  )
}

type TierCounts = Readonly<Record<PolicyTier, number>>

/** Agents by the tier that policy gives them for each tool of a server. */
function useTiers(server: string): (capability: string | null) => TierCounts | null {
  const { data } = useRead('simulatePolicy', { capabilities: [`${server}.*`] })
  return (capability) => {
    const calls = data?.results.filter((call) => call.capability === capability) ?? []
    if (calls.length === 0) return null
    const countOf = (tier: PolicyTier) =>
      calls.filter((call) => call.barred === null && call.tier === tier).length
    const autonomous = countOf('autonomous')
    const approval_required = countOf('approval_required')
    return { autonomous, approval_required, blocked: calls.length - autonomous - approval_required }
  }
}

/** Tools to review come first. What is accepted is what was shown: its digest goes along. */
const Tools = ({ review, act }: { readonly review: UpstreamReview; readonly act: Act }) => {
  const mayAccept = useMay('upstreams.manage')
  const { tools, digest, upstream } = review
  const tiers = useTiers(upstream.name)
  const waiting = tools.filter(needsReview)
  const sorted = [...waiting, ...tools.filter((tool) => !needsReview(tool))]
  const accept = (names: readonly string[], said: string) => () =>
    void act.run(async () => {
      await api.acceptUpstream({ name: upstream.name, digest, tools: [...names] })
      await refresh()
      announce(text.acceptedSaid(said))
    })
  const decline = (name: string) => () =>
    void act.run(async () => {
      await api.declineUpstream({ name: upstream.name, digest, tools: [name] })
      await refresh()
      announce(text.declinedSaid(name))
    })
  return (
    <Section
      title={text.tools}
      actions={
        mayAccept &&
        waiting.length > 0 && (
          <Button
            busy={act.busy}
            onClick={accept(
              waiting.map(({ tool }) => tool),
              upstream.name,
            )}
          >
            {text.acceptAll(waiting.length)}
          </Button>
        )
      }
    >
      <p className="mb-2 text-ink-soft">{text.suggestedNote}</p>
      <ul aria-label={text.tools} className="grid gap-3">
        {sorted.map((tool) => (
          <ToolCard
            key={tool.tool}
            tool={tool}
            tiers={tiers(tool.capability)}
            busy={act.busy}
            onAccept={
              mayAccept && (needsReview(tool) || tool.state === 'declined')
                ? accept([tool.tool], tool.tool)
                : null
            }
            onDecline={
              mayAccept && (tool.state === 'new' || tool.state === 'changed')
                ? decline(tool.tool)
                : null
            }
          />
        ))}
      </ul>
    </Section>
  )
}

const Review = ({ review }: { readonly review: UpstreamReview }) => {
  const act = useAct()
  const mayManage = useMay('upstreams.manage')
  const { upstream } = review
  return (
    <Page
      title={upstream.name}
      aside={<UpstreamStatusBadge status={upstream.status} />}
      actions={
        <>
          <LinkButton to="/upstreams">{text.all}</LinkButton>
          {mayManage && <Actions upstream={upstream} act={act} />}
        </>
      }
    >
      <div className="grid grid-cols-1 gap-3">
        <Failure error={act.error} />
        {upstream.reason !== null && (
          <Notice tone="warn">
            <Visible text={upstream.reason} />
          </Notice>
        )}
        <UpstreamFacts upstream={upstream} refused={review.hosts_refused} />
      </div>
      <Tools review={review} act={act} />
    </Page>
  )
}

export const UpstreamPage = () => {
  const { name = '' } = useParams({ strict: false })
  return (
    <Loaded query={useRead('showUpstream', { name })}>
      {(review) => <Review review={review} />}
    </Loaded>
  )
}
