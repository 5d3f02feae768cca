import { ClientError } from '@gatehouse/rest-client'
import type { ReactNode } from 'react'
import { messageOf } from '../api.ts'
import { common } from '../messages/common.ts'
import { Button } from './button.tsx'
import { cx } from './cx.ts'
import { Icon, type IconName } from './icon.tsx'
import { Visible } from './visible.tsx'

const looks = {
  info: ['info', 'border-line bg-accent-soft'],
  good: ['check', 'border-good bg-good-soft'],
  warn: ['warning', 'border-warn bg-warn-soft'],
  bad: ['warning', 'border-bad bg-bad-soft'],
} as const satisfies Record<string, readonly [IconName, string]>

export const Notice = ({
  tone = 'info',
  role,
  children,
}: {
  readonly tone?: keyof typeof looks
  readonly role?: 'alert' | 'status'
  readonly children: ReactNode
}) => {
  const [icon, look] = looks[tone]
  return (
    <div role={role} className={cx('flex gap-2.5 rounded-lg border px-3 py-2.5', look)}>
      <span className="mt-0.5">
        <Icon name={icon} />
      </span>
      <div className="min-w-0 grow [overflow-wrap:anywhere]">{children}</div>
    </div>
  )
}

/** Refusal of the service, in its own words, with its advice; nothing where nothing went wrong. */
export const Failure = ({
  error,
  onRetry,
}: {
  readonly error: unknown
  readonly onRetry?: () => void
}) => {
  if (error === null || error === undefined) return null
  const problem = error instanceof ClientError ? error.problem : null
  return (
    <Notice tone="bad" role="alert">
      <p>
        <Visible text={messageOf(error)} />
      </p>
      {problem?.errors?.map(({ pointer, detail }) => (
        <p key={`${pointer}${detail}`} className="text-[0.933rem]">
          <Visible text={`${pointer.replace(/^#?\//, '')}: ${detail}`} />
        </p>
      ))}
      {problem?.recovery.map(({ description }) => (
        <p key={description} className="text-[0.933rem] text-ink-soft">
          <Visible text={description} />
        </p>
      ))}
      {onRetry && (
        <Button className="mt-2" onClick={onRetry}>
          {common.retry}
        </Button>
      )}
    </Notice>
  )
}
