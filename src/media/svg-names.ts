// The names that a picture may contain (SVG 2, and parts of SVG 1.1 that editors still write). Not listed: anything
// that runs code, embeds documents, follows links, or can turn a harmless reference into another.

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export const SVG = 'http://www.w3.org/2000/svg';
export const XLINK = 'http://www.w3.org/1999/xlink';
export const XML = 'http://www.w3.org/XML/1998/namespace';
export const XMLNS = 'http://www.w3.org/2000/xmlns/';

/** Namespaces of editors' own metadata. Browsers ignore them. */
export const NOTES: ReadonlySet<string> = names(`
  http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd
  http://www.inkscape.org/namespaces/inkscape
  http://www.w3.org/1999/02/22-rdf-syntax-ns#
  http://creativecommons.org/ns# http://web.resource.org/cc/
  http://purl.org/dc/elements/1.1/ http://purl.org/dc/terms/
  http://www.bohemiancoding.com/sketch/ns http://www.serif.com/ http://vectornator.io http://boxy-svg.com
`);

export const ELEMENTS = names(`
  svg g defs symbol use switch title desc metadata style
  path rect circle ellipse line polyline polygon image
  text tspan textPath
  linearGradient radialGradient stop pattern clipPath mask marker
  filter feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting
  feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage
  feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence
  animateTransform animateMotion mpath
`);

/** Attributes that are not styles and therefore may contain any text. */
export const PLAIN_ATTRIBUTES = names(`
  id class lang role tabindex media type version baseProfile
  width height x y x1 y1 x2 y2 cx cy r rx ry fx fy fr dx dy d points pathLength viewBox preserveAspectRatio
  transform gradientTransform patternTransform gradientUnits spreadMethod offset zoomAndPan contentScriptType
  contentStyleType patternUnits patternContentUnits clipPathUnits maskUnits maskContentUnits
  markerUnits markerWidth markerHeight refX refY orient
  rotate textLength lengthAdjust startOffset method spacing side
  requiredFeatures requiredExtensions systemLanguage crossorigin decoding
  filterUnits primitiveUnits filterRes in in2 result mode operator k1 k2 k3 k4 values tableValues slope intercept
  amplitude exponent stdDeviation edgeMode order kernelMatrix divisor bias targetX targetY kernelUnitLength
  preserveAlpha surfaceScale diffuseConstant specularConstant specularExponent limitingConeAngle
  azimuth elevation z pointsAtX pointsAtY pointsAtZ scale xChannelSelector yChannelSelector radius
  baseFrequency numOctaves seed stitchTiles
  attributeType begin dur end min max restart repeatCount repeatDur calcMode keyTimes keySplines keyPoints
  from to by additive accumulate path origin
`);

/** Style properties; each may also be an attribute. */
export const PROPERTIES = names(`
  alignment-baseline baseline-shift clip clip-path clip-rule color color-interpolation
  color-interpolation-filters color-profile color-rendering color-scheme cursor cx cy d direction display
  dominant-baseline enable-background fill fill-opacity fill-rule filter flood-color flood-opacity
  glyph-orientation-horizontal glyph-orientation-vertical height image-rendering inline-size isolation kerning
  letter-spacing lighting-color line-height marker marker-end marker-mid marker-start
  mask mask-type mask-image mask-mode mask-position mask-repeat mask-size mask-origin mask-clip mask-composite
  mix-blend-mode opacity overflow overflow-x overflow-y paint-order pointer-events r rx ry
  shape-image-threshold shape-inside shape-margin shape-padding shape-rendering shape-subtract solid-color
  solid-opacity stop-color stop-opacity
  stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity
  stroke-width
  text-align text-align-all text-align-last text-anchor text-decoration text-decoration-color
  text-decoration-fill text-decoration-line text-decoration-stroke text-decoration-style text-indent
  text-orientation text-overflow text-rendering text-shadow text-transform
  font font-family font-feature-settings font-kerning font-optical-sizing font-size font-size-adjust
  font-stretch font-style font-synthesis font-variant font-variant-alternates font-variant-caps
  font-variant-east-asian font-variant-ligatures font-variant-numeric font-variant-position
  font-variation-settings font-weight
  transform transform-box transform-origin rotate scale translate perspective vector-effect visibility
  unicode-bidi white-space width will-change word-spacing writing-mode x y
  animation animation-delay animation-direction animation-duration animation-fill-mode
  animation-iteration-count animation-name animation-play-state animation-timing-function
  transition transition-delay transition-duration transition-property transition-timing-function
  offset offset-anchor offset-distance offset-path offset-position offset-rotate
  background background-color margin padding border outline
`);

/** At-rules of a style sheet. */
export const AT_RULES = names('media supports keyframes -webkit-keyframes');

/** Style functions; references are checked separately. */
export const FUNCTIONS = names(`
  rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark icc-color device-cmyk
  calc min max clamp round abs sign var
  matrix matrix3d translate translatex translatey translatez translate3d scale scalex scaley scalez scale3d
  rotate rotatex rotatey rotatez rotate3d skew skewx skewy perspective
  cubic-bezier steps linear rect inset circle ellipse polygon path ray
  linear-gradient radial-gradient conic-gradient repeating-linear-gradient repeating-radial-gradient
  blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia
`);
