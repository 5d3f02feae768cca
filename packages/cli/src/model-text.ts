import type { CatalogState, Model, ModelFit, ModelJob } from '@gatehouse/contract'
import { escapeText } from './escape-text.ts'
import { shownDuration, shownTimes } from './times.ts'

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** In powers of a thousand, as download pages give it. */
export function shownBytes(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

const grades = { fits: 'fits', tight: 'tight', may_not_fit: 'may not fit' } as const
export const fitText = (fit: ModelFit | null): string => (fit ? grades[fit.grade] : '-')

export const fitLine = (fit: ModelFit): string =>
  `${grades[fit.grade]}: about ${shownBytes(fit.needs_bytes)} of ${shownBytes(fit.available_bytes)} free memory, judged by its ${fit.basis}`

/** One word on where a model stands. */
export function stateText({ installed, problem, job, partial_bytes }: Model): string {
  if (job?.status === 'running' || job?.status === 'waiting') return `installing ${job.percent} %`
  if (installed) return 'installed'
  if (problem !== null) return 'broken'
  if (partial_bytes > 0) return 'unfinished'
  return job?.status === 'failed' ? 'failed' : '-'
}

const phases = {
  waiting: 'waiting',
  checking: 'checking',
  resuming: 'checking what is here',
  downloading: 'downloading',
  verifying: 'verifying',
  finishing: 'finishing',
  ended: 'ended',
} as const

/** How far an installation is, on one line. */
export function progressLine(job: ModelJob): string {
  const { downloaded_bytes, total_bytes, bytes_per_second, eta_seconds, error } = job
  const parts = [
    `${phases[job.phase]} ${job.percent} %`,
    `${shownBytes(downloaded_bytes)} of ${shownBytes(total_bytes)}`,
    ...(bytes_per_second ? [`${shownBytes(bytes_per_second)}/s`] : []),
    ...(eta_seconds ? [`${shownDuration(eta_seconds)} left`] : []),
    ...(job.status === 'waiting' && error ? [error.message] : []),
  ]
  return escapeText(parts.join(', '))
}

export function catalogText(catalog: CatalogState): string {
  const { status, url, fetched_at, reason, dropped } = catalog
  if (status === 'not_configured') return 'No catalog is configured (catalog.url).'
  const known = {
    current: `The catalog is current, fetched ${shownTimes(fetched_at)}.`,
    cached: `The catalog could not be fetched; the one of ${shownTimes(fetched_at)} counts.`,
    refused: 'THE CATALOG IS BROKEN; only built-in models are offered.',
    unavailable: 'The catalog could not be fetched; only built-in models are offered.',
  }[status]
  return [
    known,
    ...(reason === null ? [] : [escapeText(`Reason: ${reason}`)]),
    ...dropped.map(({ id, index, reason: why }) =>
      escapeText(`Dropped: entry ${index}${id === null ? '' : ` (${id})`}: ${why}`),
    ),
    ...(url === null ? [] : [escapeText(`From: ${url}`)]),
  ].join('\n')
}
