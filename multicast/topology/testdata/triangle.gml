# three places, nodes after links
Creator "a hand"
graph [
  directed 1
  label "three places"
  edge [ source 30 target 10 weight 2.5 ]
  edge [ source 30 target 20 ]
  edge [ source 10 target 20 weight 4 ]
  node [ id 30 label "S&#227;o Paulo, BR" graphics [ x -46 y -23.5 fill "red" ] ]
  node [ id 10 label "Oslo"
    graphics [ w 3 x 0 y 60 ] ]
  node [ id 20 label "Oslo (2)" ]
]
