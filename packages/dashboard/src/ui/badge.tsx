import type { ReactNode } from 'react'
import { cx } from './cx.ts'
import { Icon, type IconName } from './icon.tsx'

export type BadgeTone = 'good' | 'warn' | 'bad' | 'accent' | 'neutral'

const tones: Readonly<Record<BadgeTone, string>> = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  accent: 'bg-accent-soft text-accent-strong',
  neutral: 'bg-sunken text-ink-soft',
}

const icons: Readonly<Record<BadgeTone, IconName | null>> = {
  good: 'check',
  warn: 'warning',
  bad: 'cross',
  accent: 'info',
  neutral: null,
}

/** A state in a word. The shape says it too, for those who see no colours. */
export const Badge = ({
  tone = 'neutral',
  icon = icons[tone],
  children,
}: {
  readonly tone?: BadgeTone
  readonly icon?: IconName | null
  readonly children: ReactNode
}) => (
  <span
    className={cx(
      'inline-flex items-center gap-1 whitespace-nowrap rounded-full px-2 py-0.5 text-[0.8rem] font-medium',
      tones[tone],
    )}
  >
    {icon && <Icon name={icon} size={13} />}
    {children}
  </span>
)
