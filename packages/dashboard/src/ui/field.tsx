import { type ComponentProps, type ReactNode, useId } from 'react'
import { cx } from './cx.ts'

const control =
  'w-full min-h-11 rounded-lg border border-line-strong bg-raised px-3 py-1.5 text-ink placeholder:text-ink-faint sm:min-h-9 aria-invalid:border-bad'

type Around = {
  readonly label: string
  readonly hint?: ReactNode
  readonly error?: string | undefined
}

/** A label, its control, and below what is wrong or what helps; both are tied to the control. */
const Field = ({
  label,
  hint,
  error,
  className,
  children,
}: Around & {
  readonly className?: string | undefined
  readonly children: (wired: {
    readonly id: string
    readonly 'aria-describedby': string | undefined
    readonly 'aria-invalid': true | undefined
  }) => ReactNode
}) => {
  const id = useId()
  const below = error !== undefined || hint !== undefined
  return (
    <div className={cx('min-w-0', className)}>
      <label htmlFor={id} className="mb-1 block text-[0.867rem] font-medium">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': below ? `${id}-below` : undefined,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {below && (
        <p
          id={`${id}-below`}
          className={cx('mt-1 text-[0.867rem]', error === undefined ? 'text-ink-soft' : 'text-bad')}
        >
          {error ?? hint}
        </p>
      )}
    </div>
  )
}

export const TextField = ({
  label,
  hint,
  error,
  className,
  ...rest
}: Around & ComponentProps<'input'>) => (
  <Field label={label} hint={hint} error={error} className={className}>
    {(wired) => <input {...rest} {...wired} className={control} />}
  </Field>
)

export const TextArea = ({
  label,
  hint,
  error,
  className,
  mono = false,
  ...rest
}: Around & ComponentProps<'textarea'> & { readonly mono?: boolean }) => (
  <Field label={label} hint={hint} error={error} className={className}>
    {(wired) => <textarea rows={4} {...rest} {...wired} className={cx(control, mono && 'mono')} />}
  </Field>
)

export const SelectField = ({
  label,
  hint,
  error,
  className,
  options,
  ...rest
}: Around &
  ComponentProps<'select'> & {
    readonly options: readonly { readonly value: string; readonly text: string }[]
  }) => (
  <Field label={label} hint={hint} error={error} className={className}>
    {(wired) => (
      <select {...rest} {...wired} className={control}>
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
)

export const Checkbox = ({
  label,
  hint,
  className,
  ...rest
}: Omit<Around, 'error'> & ComponentProps<'input'>) => {
  const id = useId()
  return (
    <div className={cx('flex gap-2.5', className)}>
      <input
        {...rest}
        id={id}
        type="checkbox"
        aria-describedby={hint === undefined ? undefined : `${id}-below`}
        className="mt-0.5 size-6 shrink-0 sm:size-5"
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint !== undefined && (
          <p id={`${id}-below`} className="text-[0.867rem] text-ink-soft">
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}
