import { Link, type LinkProps } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import { cx } from './cx.ts'
import { Icon, type IconName } from './icon.tsx'

export type Tone = 'primary' | 'plain' | 'danger' | 'quiet'

const tones: Readonly<Record<Tone, string>> = {
  primary:
    'bg-accent text-on-accent border-accent hover:bg-accent-strong hover:border-accent-strong',
  plain: 'bg-raised text-ink border-line-strong hover:bg-sunken',
  danger: 'bg-raised text-bad border-bad hover:bg-bad-soft',
  quiet: 'bg-transparent text-ink-soft border-transparent hover:bg-sunken hover:text-ink',
}

/** 44 px for fingers, 36 px for a mouse. */
const shape =
  'inline-flex min-h-11 items-center justify-center gap-1.5 rounded-lg border px-3.5 text-[0.933rem] font-medium no-underline transition-colors disabled:opacity-55 sm:min-h-9 sm:px-3'

const classOf = (tone: Tone, extra?: string) => cx(shape, tones[tone], extra)

type ButtonProps = ComponentProps<'button'> & {
  readonly tone?: Tone
  readonly icon?: IconName
  /** Work is under way: the button waits, and says so to readers of screens. */
  readonly busy?: boolean
}

export const Button = ({
  tone = 'plain',
  icon,
  busy = false,
  disabled,
  className,
  children,
  type = 'button',
  ...rest
}: ButtonProps) => (
  <button
    type={type}
    disabled={disabled === true || busy}
    aria-busy={busy || undefined}
    className={classOf(tone, className)}
    {...rest}
  >
    {icon && <Icon name={icon} size={16} />}
    {children}
  </button>
)

/** A button of an icon alone; its label is what it does. */
export const IconButton = ({
  label,
  icon,
  className,
  ...rest
}: Omit<ComponentProps<'button'>, 'children'> & {
  readonly label: string
  readonly icon: IconName
}) => (
  <button
    type="button"
    aria-label={label}
    title={label}
    className={cx(
      'inline-flex size-11 items-center justify-center rounded-lg text-ink-soft hover:bg-sunken hover:text-ink sm:size-9',
      className,
    )}
    {...rest}
  >
    <Icon name={icon} />
  </button>
)

type LinkButtonProps = LinkProps & {
  readonly tone?: Tone
  readonly icon?: IconName
  readonly children: ReactNode
}

export const LinkButton = ({ tone = 'plain', icon, children, ...rest }: LinkButtonProps) => (
  <Link {...rest} className={classOf(tone)}>
    {icon && <Icon name={icon} size={16} />}
    {children}
  </Link>
)
