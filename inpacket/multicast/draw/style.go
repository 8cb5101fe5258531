package draw

// style is the look of a drawing, light or dark as its reader's system is set. Its
// rules hold below the class of the drawing only, for those within a page. Colours are
// those of Okabe and Ito 2008, which most colour-blind people can tell apart, lighter
// on the dark ground.
const style = `
.umbel-network{font:12px system-ui,sans-serif}
.umbel-network .ground{fill:#fff}
.umbel-network path{fill:none;stroke-linecap:round}
.umbel-network .link{stroke:#b4b9c1;stroke-width:1}
.umbel-network .load{stroke:#009e73;stroke-opacity:.75;stroke-width:4}
.umbel-network .failed{stroke:#666;stroke-width:2;stroke-dasharray:.1 5}
.umbel-network .way{stroke:#0072b2;stroke-width:3;stroke-linecap:butt}
.umbel-network .stray{stroke:#c04a00;stroke-width:2;stroke-dasharray:6 3;stroke-linecap:butt}
.umbel-network .way-head path{fill:#0072b2}
.umbel-network .stray-head path{fill:#c04a00}
.umbel-network .node{fill:#fff;stroke:#6b7280;stroke-width:1}
.umbel-network .source{fill:#0072b2;stroke:#fff;stroke-width:1.5}
.umbel-network .receiver{fill:#f0c000;stroke:#222;stroke-width:1.5}
.umbel-network .lost{fill:#fff;stroke:#c04a00;stroke-width:2}
.umbel-network text{fill:#1b1f24;stroke:#fff;stroke-width:3;paint-order:stroke;stroke-linejoin:round}
@media(prefers-color-scheme:dark){
.umbel-network .ground{fill:#15181d}
.umbel-network .link{stroke:#4a515c}
.umbel-network .load{stroke:#2cc59a}
.umbel-network .failed{stroke:#a2a8b1}
.umbel-network .way{stroke:#56b4e9}
.umbel-network .stray{stroke:#ff9a4d}
.umbel-network .way-head path{fill:#56b4e9}
.umbel-network .stray-head path{fill:#ff9a4d}
.umbel-network .node{fill:#15181d;stroke:#9aa2ad}
.umbel-network .source{fill:#56b4e9;stroke:#15181d}
.umbel-network .receiver{fill:#f0e442;stroke:#15181d}
.umbel-network .lost{fill:#15181d;stroke:#ff9a4d}
.umbel-network text{fill:#e6e8eb;stroke:#15181d}
}
`
