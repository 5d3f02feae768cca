import {
  type FailedNotification,
  GatehouseError,
  type NotificationEvent,
  type NotificationTarget,
  type NotificationTest,
  type Question,
} from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredAlert } from '../../ports/alerts.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { AuditLog, AuditTransaction } from '../../ports/audit.ts'
import type { StoredJob } from '../../ports/jobs.ts'
import type { Notice, Notifier, NotifierTarget } from '../../ports/notifier.ts'
import type { Stores } from '../../ports/storage.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'
import { type JobKind, newJob } from '../time/job-kind.ts'
import { JobRunner } from '../time/job-runner.ts'
import { targetsOf } from './alert-handling.ts'
import {
  alertNews,
  approvalNews,
  type CallFacts,
  callNews,
  type News,
  questionNews,
} from './notification-news.ts'

type Deps = Basics & {
  readonly notifier: Notifier
  readonly node: string
  /** The address of the page for people, once there is one. */
  readonly page: () => string | null
  readonly signal: AbortSignal
}

type Outcome = { readonly status: number | null; readonly detail?: string }

const kind = 'notification'
/** With the runner's back-off, about a day. */
const attemptsMax = 100
/** Messages that may wait for one target; more are dropped, and the log says so. */
const queueMax = 10_000
const keptDelivered = 1_000
const listMax = 500

const subjectOf = (target: string): string => `notification:${target}`
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
const newsOf = (job: StoredJob): News => parseStored(job.payload_json, 'jobs.payload_json')
const outcomeOf = (job: StoredJob): Outcome | null =>
  job.outcome_json === null ? null : parseStored<Outcome>(job.outcome_json, 'jobs.outcome_json')

/**
 * Tells people elsewhere. A message is stored in the transaction of what it tells of, and sent from the
 * store until its receiver has taken it: at least once, also across a crash.
 */
export class Notifications {
  readonly auditLog: AuditLog
  readonly #deps: Deps
  /** One of its own: a receiver that hangs must not keep put-off calls waiting. */
  readonly #jobs: JobRunner

  constructor(deps: Deps) {
    this.#deps = deps
    this.#jobs = new JobRunner({ ...deps, node: `${deps.node}/notify` }, [this.#kind()])
    this.auditLog = deps.notifier.targets.length > 0 ? this.#watching(deps.auditLog) : deps.auditLog
  }

  get notifier(): Notifier {
    return this.#deps.notifier
  }

  start(): Promise<void> {
    return this.#jobs.start()
  }

  stopped(): Promise<void> {
    return this.#jobs.stopped()
  }

  /** A call of which policy says that people hear. Stored before the call begins. */
  called(facts: CallFacts): Promise<void> {
    return this.#tell(this.#deps.storage, 'capability.notified', () => callNews(facts))
  }

  /** A question of an upstream server. Stored before anybody can answer it. */
  asked(question: Question): Promise<void> {
    return this.#tell(this.#deps.storage, 'question.pending', () => questionNews(question))
  }

  async list(): Promise<NotificationTarget[]> {
    return Promise.all(this.#deps.notifier.targets.map((target) => this.#show(target)))
  }

  /** Sent at once and once, past the queue: whoever asks waits for the answer. */
  async test(op: Op, name: string): Promise<NotificationTest> {
    const { clock, ids, auditLog, notifier, page } = this.#deps
    this.#find(name)
    const notice: Notice = {
      id: ids.next('job'),
      type: 'test',
      at: new Date(clock.wall()).toISOString(),
      title: 'Gatehouse can reach you here',
      text: 'This is what a notification looks like. Nothing has happened.',
      urgent: false,
      link: page(),
      data: {},
    }
    const sent = await notifier.send(name, notice, op.signal)
    const delivered = sent.kind === 'delivered'
    await auditLog.transaction(async (tx) => {
      const facts = { arguments: { name }, result: delivered ? 'success' : 'error' } as const
      tx.append(actDraft(op, 'notification.tested', facts))
    })
    return { name, delivered, status: sent.status, detail: delivered ? null : sent.detail }
  }

  async failed(name: string): Promise<FailedNotification[]> {
    return (await this.#dead(name)).map((job) => {
      const { event, title } = newsOf(job)
      return {
        id: job.id,
        event,
        title,
        created_at: new Date(job.created_ms).toISOString(),
        failed_at: iso(job.finished_ms),
        attempts: job.attempts,
        detail: outcomeOf(job)?.detail ?? null,
      }
    })
  }

  /** Puts what was given up back into the queue, as if it were new. */
  async retry(op: Op, name: string): Promise<number> {
    const dead = await this.#dead(name)
    const { clock, auditLog } = this.#deps
    const retried = await auditLog.transaction(async (tx) => {
      let count = 0
      for (const job of dead) {
        const due_ms = clock.wall()
        const next = { ...job, state: 'waiting', attempts: 0, due_ms, finished_ms: null } as const
        if (await tx.jobs.replace(job, next)) count += 1
      }
      tx.append(actDraft(op, 'notification.retried', { arguments: { name, count } }))
      return count
    })
    this.#jobs.nudge()
    return retried
  }

  #find(name: string): NotifierTarget {
    const target = this.#deps.notifier.targets.find((one) => one.name === name)
    if (!target) throw new GatehouseError('NotificationTargetNotFound', { name })
    return target
  }

  async #all(name: string): Promise<readonly StoredJob[]> {
    const page = { limit: queueMax, offset: 0 }
    return (await this.#deps.storage.jobs.listOf(subjectOf(name), page)).jobs
  }

  async #dead(name: string): Promise<readonly StoredJob[]> {
    this.#find(name)
    return (await this.#all(name)).filter(({ state }) => state === 'dead').slice(0, listMax)
  }

  async #show(target: NotifierTarget): Promise<NotificationTarget> {
    const { name, kind: form, origin, events, hasSecret } = target
    const jobs = await this.#all(name)
    const waiting = jobs.filter(({ state }) => state === 'waiting' || state === 'running')
    const dead = jobs.filter(({ state }) => state === 'dead')
    const delivered = jobs.filter(({ state }) => state === 'done')
    const lastMs = Math.max(0, ...delivered.map((job) => job.finished_ms ?? 0))
    const failing = [...dead, ...waiting].find((job) => outcomeOf(job)?.detail)
    return {
      name,
      kind: form,
      origin,
      events: [...events],
      has_secret: hasSecret,
      waiting: waiting.length,
      failed: dead.length,
      last_delivered_at: lastMs === 0 ? null : iso(lastMs),
      last_failure: failing ? (outcomeOf(failing)?.detail ?? null) : null,
    }
  }

  async #tell(
    stores: Pick<Stores, 'jobs'>,
    event: NotificationEvent,
    news: () => Omit<News, 'event'>,
    /** Targets among those that take the event; null for all. */
    chosen: readonly string[] | null = null,
  ): Promise<void> {
    const { notifier, clock, log } = this.#deps
    for (const { name, events } of notifier.targets) {
      if (!events.includes(event) || chosen?.includes(name) === false) continue
      const subject = subjectOf(name)
      if ((await stores.jobs.listOf(subject, { limit: 1, offset: 0 })).total >= queueMax) {
        log.warn({ target: name, event }, 'too many notifications wait; this one is dropped')
        continue
      }
      const payload = { ...news(), event }
      const job = { kind, subject, agent: '', payload, dueMs: clock.wall(), attemptsMax }
      await stores.jobs.insert(newJob(this.#deps, job))
    }
    this.#jobs.nudge()
  }

  /** The audit log, with a message beside each thing that people want to hear of: both or neither. */
  #watching(auditLog: AuditLog): AuditLog {
    const watch = (tx: AuditTransaction): AuditTransaction => ({
      ...tx,
      approvals: {
        ...tx.approvals,
        insert: async (approval) => {
          await tx.approvals.insert(approval)
          if (approval.status === 'pending') await this.#tellApproval(tx, approval)
        },
        replace: async (current, next) => {
          const replaced = await tx.approvals.replace(current, next)
          const { changed, approval } = replaced
          if (changed && current.status === 'pending' && approval.status !== 'pending')
            await this.#tellApproval(tx, approval)
          return replaced
        },
      },
      alerts: {
        ...tx.alerts,
        insert: async (alert: StoredAlert) => {
          await tx.alerts.insert(alert)
          const targets = await targetsOf(tx.meta, alert, this.#deps.clock.wall())
          await this.#tell(tx, 'alert.raised', () => alertNews(alert), targets)
        },
      },
    })
    return {
      append: (draft, extras) => auditLog.append(draft, extras),
      assertRecordable: (draft) => auditLog.assertRecordable(draft),
      onCommit: (listener) => auditLog.onCommit(listener),
      transaction: (work) => auditLog.transaction((tx) => work(watch(tx))),
    }
  }

  #tellApproval(tx: AuditTransaction, approval: StoredApproval): Promise<void> {
    const event = approval.status === 'pending' ? 'approval.pending' : 'approval.resolved'
    return this.#tell(tx, event, () => approvalNews(approval))
  }

  #kind(): JobKind {
    return {
      kind,
      repeatable: true,
      perform: async (job, signal) => {
        const { notifier, storage, page } = this.#deps
        const name = job.subject.slice(subjectOf('').length)
        const { event, path, ...news } = newsOf(job)
        // Configuration changed since: nobody is there to be told.
        if (!notifier.targets.some((target) => target.name === name))
          return { kind: 'done', outcome: { status: null, detail: 'the target is gone' } }
        const at = new Date(job.created_ms).toISOString()
        const home = page()
        const link = home === null ? null : `${home}#${path}`
        const sent = await notifier.send(
          name,
          { ...news, id: job.id, type: event, at, link },
          signal,
        )
        if (sent.kind === 'delivered') {
          await storage.jobs.prune(0, { subject: job.subject, keep: keptDelivered })
          return { kind: 'done', outcome: { status: sent.status } }
        }
        const { status, detail, retryAfterMs } = sent
        const after = retryAfterMs === undefined ? {} : { afterMs: retryAfterMs }
        return { kind: 'again', outcome: { status, detail }, ...after }
      },
    }
  }
}
