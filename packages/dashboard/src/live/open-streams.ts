import type {
  ActivityEvent,
  Approval,
  ApprovalList,
  EngineState,
  ModelJob,
  ServiceSync,
} from '@gatehouse/contract'
import type { LiveMessage, LiveState } from './live-message.ts'

/** Messages that came within this time are told together. */
const gatherMs = 60

export type Streams = Disposable & {
  /** Resolves when one was refused, by the service or a proxy before it: a browser does not open that again. */
  readonly refused: Promise<void>
}

/** The streams of the service, as one. A browser reconnects by itself, from the last event, as long as none is refused. */
export function openStreams(
  after: string | null,
  tell: (messages: readonly LiveMessage[]) => void,
): Streams {
  let gathered: LiveMessage[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    const messages = gathered
    gathered = []
    tell(messages)
  }
  const add = (message: LiveMessage) => {
    gathered.push(message)
    timer ??= setTimeout(flush, gatherMs)
  }

  const query = after === null ? '' : `?${new URLSearchParams({ after })}`
  const activity = new EventSource(`/api/activity/stream${query}`)
  const approvals = new EventSource('/api/approvals/stream')
  const progress = new EventSource('/api/progress/stream')
  const all = [activity, approvals, progress]
  let state: LiveState = 'connecting'
  let refuse = () => {}
  const refused = new Promise<void>((resolve) => {
    refuse = resolve
  })
  const look = () => {
    const next = all.some(({ readyState }) => readyState === EventSource.CLOSED)
      ? 'refused'
      : all.every(({ readyState }) => readyState === EventSource.OPEN)
        ? 'live'
        : state === 'connecting'
          ? 'connecting'
          : 'reconnecting'
    if (next === 'refused') refuse()
    if (next === state) return
    state = next
    add({ kind: 'state', state })
  }
  for (const stream of all) {
    stream.addEventListener('open', look)
    stream.addEventListener('error', look)
  }
  activity.addEventListener('activity', ({ data, lastEventId }: MessageEvent<string>) =>
    add({ kind: 'activity', place: lastEventId, event: JSON.parse(data) as ActivityEvent }),
  )
  approvals.addEventListener('approval', ({ data }: MessageEvent<string>) =>
    add({ kind: 'approval', approval: JSON.parse(data) as Approval }),
  )
  approvals.addEventListener('snapshot', ({ data }: MessageEvent<string>) =>
    add({ kind: 'approvals', list: JSON.parse(data) as ApprovalList }),
  )
  approvals.addEventListener('question', () => add({ kind: 'question' }))
  progress.addEventListener('model', ({ data }: MessageEvent<string>) =>
    add({ kind: 'model', job: JSON.parse(data) as ModelJob }),
  )
  progress.addEventListener('service', ({ data }: MessageEvent<string>) =>
    add({ kind: 'service', sync: JSON.parse(data) as ServiceSync }),
  )
  progress.addEventListener('engine', ({ data }: MessageEvent<string>) =>
    add({ kind: 'engine', engine: JSON.parse(data) as EngineState }),
  )
  return {
    refused,
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      for (const stream of all) stream.close()
    },
  }
}
