import { useId } from 'react'

/** One of a few, all of them in sight. */
export const Choice = ({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly options: readonly { readonly value: string; readonly text: string }[]
  readonly onChange: (value: string) => void
}) => {
  const name = useId()
  return (
    <fieldset className="flex overflow-hidden rounded-lg border border-line-strong">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className="relative inline-flex min-h-11 min-w-11 cursor-pointer items-center justify-center border-line-strong px-3 text-[0.933rem] -outline-offset-2 not-last:border-r hover:bg-sunken has-checked:bg-accent-soft has-checked:font-medium has-checked:text-accent-strong has-focus-visible:outline-2 sm:min-h-9"
        >
          <input
            type="radio"
            className="sr-only"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.text}
        </label>
      ))}
    </fieldset>
  )
}
